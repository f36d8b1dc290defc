/** Heading and tabs of the pages of a user or an organization. */

import type { JSX } from 'preact/jsx-runtime'
import type { Owner } from '../../../sql/accounts/owners.js'
import type { OrganizationRole } from '../../../sql/organizations/organizations.js'
import { Shown } from '../../rendering/visible-text.js'
import type { Context } from '../../request/context.js'
import { Tab } from '../kit/tab.js'

export interface OwnerTabsProps {
  readonly context: Context
  readonly owner: Owner
  /** Role of the visitor in the organization; `none` for users. */
  readonly role: OrganizationRole
  readonly tab: 'repositories' | 'packages' | 'members' | 'teams' | 'settings' | 'actions'
}

/** Renders the heading and tabs; without packages if the registries are disabled. */
export function OwnerTabs({ context, owner, role, tab }: OwnerTabsProps): JSX.Element {
  const { actions, http, packages } = context.settings
  const own = `${http.basePath}/${owner.name}`
  const organization = `${http.basePath}/org/${owner.name}`
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
        {owner.kind === 'organization' && (
          <Tab address={`${organization}/members`} word="Members" isHere={tab === 'members'} />
        )}
        {role !== 'none' && (
          <Tab address={`${organization}/teams`} word="Teams" isHere={tab === 'teams'} />
        )}
        {role === 'owner' && (
          <Tab address={`${organization}/settings`} word="Settings" isHere={tab === 'settings'} />
        )}
        {role === 'owner' && actions.isEnabled && (
          <Tab
            address={`${organization}/settings/actions`}
            word="Actions"
            isHere={tab === 'actions'}
          />
        )}
      </nav>
    </header>
  )
}
