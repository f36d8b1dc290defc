/** List of repositories. */

import type { JSX } from 'preact/jsx-runtime'
import type { Repository } from '../../../sql/repositories/repositories.js'
import { Shown } from '../../rendering/visible-text.js'
import { Icon } from '../kit/icon.js'
import { Ago } from '../kit/times.js'

export interface RepositoryListProps {
  readonly base: string
  readonly repositories: readonly Repository[]
  /** True if the owner is shown before each name. */
  readonly hasOwners: boolean
}

/** Renders the list, or a sentence if it is empty. */
export function RepositoryList(props: RepositoryListProps): JSX.Element {
  const { base, repositories, hasOwners } = props
  if (repositories.length === 0) return <p class="empty">There are no repositories yet.</p>
  return (
    <ul class="list">
      {repositories.map(({ owner, name, description, isPrivate, updatedAtMs }) => (
        <li>
          <Icon name={isPrivate ? 'lock' : 'repo'} />
          <div class="grow">
            <a class="strong" href={`${base}/${owner.name}/${name}`}>
              {hasOwners ? `${owner.name}/${name}` : name}
            </a>
            {isPrivate && <span class="label">private</span>}
            {description !== '' && (
              <p class="quiet">
                <Shown text={description} />
              </p>
            )}
          </div>
          <Ago atMs={updatedAtMs} />
        </li>
      ))}
    </ul>
  )
}
