/** Who wrote something, as far as the visitor may know. */

import type { JSX } from 'preact/jsx-runtime'
import type { Owner } from '../../../sql/accounts/owners.js'
import type { User } from '../../../sql/accounts/users.js'
import type { OriginalAuthor } from '../../../sql/issues/issues.js'
import { isVisible } from '../../auth/visible-owner.js'
import { Shown } from '../../rendering/visible-text.js'

export interface PersonProps {
  /** Of the server. */
  readonly base: string
  /** Absent when the account has gone. */
  readonly person: Owner | undefined
  /** Of what was taken over from another server. */
  readonly original?: OriginalAuthor
  readonly viewer: User | undefined
}

/** A link to the account; a stand-in where it is gone or not to be seen. */
export function Author({ base, person, original, viewer }: PersonProps): JSX.Element {
  if (person !== undefined && isVisible(person, viewer)) {
    return (
      <a class="strong" href={`${base}/${person.name}`}>
        {person.name}
      </a>
    )
  }
  return (
    <span class="strong">
      <Shown text={original?.name || 'Ghost'} />
    </span>
  )
}
