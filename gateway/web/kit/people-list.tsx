/** People one below the other, each with what may be done about them. */

import type { JSX } from 'preact/jsx-runtime'
import type { User } from '../../../sql/accounts/users.js'
import { Shown } from '../../rendering/visible-text.js'

export interface PeopleListProps {
  readonly base: string
  readonly people: readonly User[]
  /** Where a form goes that removes one of them; absent for who may not. */
  readonly removal?: string | undefined
}

/** The list, or a sentence where it is empty. */
export function PeopleList({ base, people, removal }: PeopleListProps): JSX.Element {
  if (people.length === 0) return <p class="empty">There is nobody to be seen.</p>
  return (
    <ul class="list">
      {people.map(({ name, fullName }) => (
        <li>
          <div class="grow">
            <a class="strong" href={`${base}/${name}`}>
              {name}
            </a>{' '}
            <span class="quiet">
              <Shown text={fullName} />
            </span>
          </div>
          {removal !== undefined && <RemovalForm address={removal} name={name} />}
        </li>
      ))}
    </ul>
  )
}

export interface RemovalFormProps {
  readonly address: string
  /** Of whom or what it removes. */
  readonly name: string
}

/** A button that takes one thing out of a list, by its name. */
export function RemovalForm({ address, name }: RemovalFormProps): JSX.Element {
  return (
    <form method="post" action={address}>
      <input type="hidden" name="name" value={name} />
      <button type="submit" class="danger" aria-label={`Remove ${name}`}>
        Remove
      </button>
    </form>
  )
}
