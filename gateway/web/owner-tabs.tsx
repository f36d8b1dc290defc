/** The name of a user or an organization, and the way between its pages. */

import type { JSX } from 'preact/jsx-runtime'
import type { Owner } from '../../sql/users.js'
import type { Context } from '../context.js'
import { Tab } from './tab.js'
import { Shown } from './visible-text.js'

export interface OwnerTabsProps {
  readonly context: Context
  readonly owner: Owner
  readonly tab: 'repositories' | 'packages'
}

/** Without the packages where there are no registries. */
export function OwnerTabs({ context, owner, tab }: OwnerTabsProps): JSX.Element {
  const { http, packages } = context.settings
  const own = `${http.baseUrl}/${owner.name}`
  return (
    <header>
      <h1>{owner.name}</h1>
      {owner.fullName !== '' && (
        <p>
          <Shown text={owner.fullName} />
        </p>
      )}
      {owner.description !== '' && (
        <p class="quiet">
          <Shown text={owner.description} />
        </p>
      )}
      <nav class="tabs" aria-label="Owner">
        <Tab address={own} word="Repositories" isHere={tab === 'repositories'} />
        {packages.isEnabled && (
          <Tab address={`${own}/-/packages`} word="Packages" isHere={tab === 'packages'} />
        )}
      </nav>
    </header>
  )
}
