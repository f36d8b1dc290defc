/** Pages of runners: of a repository, an organization, the own account, and the site. */

import { refuseWithoutActions } from '../../actions/repositories/has-actions.js'
import type { AnyRoute } from '../../request/route.js'
import { AccountDocument } from '../accounts/account-document.js'
import { SettingsDocument } from '../accounts/settings-document.js'
import { ADMIN_ACCESS, AdminDocument } from '../admin/admin-document.js'
import { organizationPath } from '../kit/links.js'
import { OrganizationDocument } from '../organizations/organization-document.js'
import { runnerPages } from './scope-pages.js'

const ofRepository = runnerPages<'repository'>({
  path: '/{owner}/{repo}/settings/actions/runners',
  access: { kind: 'repository', mode: 'admin' },
  locate(context, { repository }) {
    refuseWithoutActions(context, repository)
    const name = `${repository.owner.name}/${repository.name}`
    return {
      scope: { ownerId: undefined, repositoryId: repository.id },
      name,
      path: `/${name}/settings/actions/runners`,
    }
  },
  frame: (context, grant, content) => (
    <SettingsDocument context={context} grant={grant} tab="actions/runners">
      {content}
    </SettingsDocument>
  ),
})

const ofOrganization = runnerPages<'organization'>({
  path: '/org/{org}/settings/actions/runners',
  access: { kind: 'organization', role: 'owner' },
  locate: (_context, grant) => ({
    scope: { ownerId: grant.organization.id, repositoryId: undefined },
    name: `all repositories of ${grant.organization.name}`,
    path: `${organizationPath(grant)}/settings/actions/runners`,
  }),
  frame: (context, grant, content) => (
    <OrganizationDocument context={context} grant={grant} tab="settings" title="Runners">
      {content}
    </OrganizationDocument>
  ),
})

const ofUser = runnerPages<'signed-in'>({
  path: '/user/settings/actions/runners',
  access: { kind: 'signed-in' },
  locate: (_context, { user }) => ({
    scope: { ownerId: user.id, repositoryId: undefined },
    name: `all repositories of ${user.name}`,
    path: '/user/settings/actions/runners',
  }),
  frame: (context, { user }, content) => (
    <AccountDocument context={context} user={user} tab="actions/runners">
      <h2>Runners</h2>
      {content}
    </AccountDocument>
  ),
})

const ofSite = runnerPages<'admin'>({
  path: '/admin/actions/runners',
  access: ADMIN_ACCESS,
  locate: () => ({
    scope: { ownerId: undefined, repositoryId: undefined },
    name: 'all repositories',
    path: '/admin/actions/runners',
  }),
  frame: (context, { user }, content) => (
    <AdminDocument context={context} user={user} tab="actions/runners">
      <h2>Runners</h2>
      {content}
    </AdminDocument>
  ),
})

export const RUNNERS_PAGES: readonly AnyRoute[] = [
  ...ofRepository,
  ...ofOrganization,
  ...ofUser,
  ...ofSite,
]
