/** The pages of secrets and variables: of a repository, an organization, a user and the site. */

import { refuseWithoutActions } from '../../actions/repositories/has-actions.js'
import type { AnyRoute } from '../../request/route.js'
import { AccountDocument } from '../accounts/account-document.js'
import { SettingsDocument } from '../accounts/settings-document.js'
import { ADMIN_ACCESS, AdminDocument } from '../admin/admin-document.js'
import { organizationPath } from '../kit/links.js'
import { OrganizationDocument } from '../organizations/organization-document.js'
import { valuesPages } from './values-page.js'

const USER_PATH = '/user/settings/actions'
const SITE_PATH = '/admin/actions'

const ofRepositories = valuesPages({
  path: '/{owner}/{repo}/settings/actions',
  access: { kind: 'repository', mode: 'admin' },
  about: 'The jobs of this repository get these values, before those of its owner and the site.',
  locate(context, { repository }) {
    refuseWithoutActions(context, repository)
    const { id, owner, name } = repository
    return { scope: { repositoryId: id }, path: `/${owner.name}/${name}/settings/actions` }
  },
  frame: (context, grant, content) => (
    <SettingsDocument context={context} grant={grant} tab="actions">
      {content}
    </SettingsDocument>
  ),
})

const ofOrganizations = valuesPages({
  path: '/org/{org}/settings/actions',
  access: { kind: 'organization', role: 'owner' },
  about: 'The jobs of all repositories of this organization get these values.',
  locate: (_context, grant) => ({
    scope: { ownerId: grant.organization.id },
    path: `${organizationPath(grant)}/settings/actions`,
  }),
  frame: (context, grant, content) => (
    <OrganizationDocument context={context} grant={grant} tab="actions" title="Actions">
      {content}
    </OrganizationDocument>
  ),
})

const ofUsers = valuesPages({
  path: USER_PATH,
  access: { kind: 'signed-in' },
  about: 'The jobs of all your repositories get these values.',
  locate: (_context, { user }) => ({ scope: { ownerId: user.id }, path: USER_PATH }),
  frame: (context, { user }, content) => (
    <AccountDocument context={context} user={user} tab="actions">
      <h2>Actions</h2>
      {content}
    </AccountDocument>
  ),
})

const ofSite = valuesPages({
  path: SITE_PATH,
  access: ADMIN_ACCESS,
  about: 'The jobs of all repositories of this site get these values.',
  locate: () => ({ scope: {}, path: SITE_PATH }),
  frame: (context, { user }, content) => (
    <AdminDocument context={context} user={user} tab="actions">
      <h2>Actions</h2>
      {content}
    </AdminDocument>
  ),
})

export const VALUES_PAGES: readonly AnyRoute[] = [
  ...ofRepositories,
  ...ofOrganizations,
  ...ofUsers,
  ...ofSite,
]
