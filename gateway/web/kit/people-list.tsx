/** List of users with a button to remove each of them. */

import type { JSX } from 'preact/jsx-runtime'
import type { User } from '../../../sql/accounts/users.js'
import { Shown } from '../../rendering/visible-text.js'

export interface PeopleListProps {
  readonly base: string
  readonly people: readonly User[]
  /** URL of the form that removes a user; absent if the visitor is not permitted to. */
  readonly removal?: string | undefined
}

/** Renders the list, or a sentence if it is empty. */
export function PeopleList({ base, people, removal }: PeopleListProps): JSX.Element {
  if (people.length === 0) return <p class="empty">There are no visible users.</p>
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
  /** Name of the user or repository to remove. */
  readonly name: string
}

/** Renders a button that removes an entry from a list by its name. */
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
