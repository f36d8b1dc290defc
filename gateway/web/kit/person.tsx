/** Author of a text, if the account is visible to the visitor. */

import type { JSX } from 'preact/jsx-runtime'
import type { Owner } from '../../../sql/accounts/owners.js'
import type { User } from '../../../sql/accounts/users.js'
import type { OriginalAuthor } from '../../../sql/issues/issues.js'
import { isVisible } from '../../auth/visible-owner.js'
import { Shown } from '../../rendering/visible-text.js'

export interface PersonProps {
  /** Path of the site, without a slash at the end. */
  readonly base: string
  /** Absent if the account was deleted. */
  readonly person: Owner | undefined
  /** Original author of content that was migrated from another server. */
  readonly original?: OriginalAuthor
  readonly viewer: User | undefined
}

/** Renders a link to the account, or a substitute if it is deleted or not visible. */
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
