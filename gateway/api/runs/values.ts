/** Secrets and variables of workflows over the API, for administrators of their scopes. */

import type { AnyOperation } from '../operation.js'
import { valueOperations } from './value-operations.js'

const ofRepositories = valueOperations({
  path: '/repos/{owner}/{repo}/actions',
  category: 'repository',
  access: { kind: 'repository', mode: 'admin' },
  params: { owner: 'owner of the repo', repo: 'name of the repo' },
  secrets: {
    list: ['repoListActionsSecrets', "List a repository's actions secrets"],
    put: ['updateRepoSecret', 'Create or Update a secret value in a repository'],
    remove: ['deleteRepoSecret', 'Delete a secret in a repository'],
  },
  variables: {
    list: ['getRepoVariablesList', 'Get repo-level variables list'],
    get: ['getRepoVariable', 'Get a repo-level variable'],
    create: ['createRepoVariable', 'Create a repo-level variable'],
    update: ['updateRepoVariable', 'Update a repo-level variable'],
    remove: ['deleteRepoVariable', 'Delete a repo-level variable'],
  },
  // Values can be set while the repository has Actions off: then no job gets them.
  locate: (_context, { repository: { id, owner, name } }) => ({
    scope: { repositoryId: id },
    path: `/repos/${owner.name}/${name}/actions`,
  }),
})

const ofOrganizations = valueOperations({
  path: '/orgs/{org}/actions',
  category: 'organization',
  access: { kind: 'organization', role: 'owner' },
  params: { org: 'name of the organization' },
  secrets: {
    list: ['orgListActionsSecrets', "List an organization's actions secrets"],
    put: ['updateOrgSecret', 'Create or Update a secret value in an organization'],
    remove: ['deleteOrgSecret', 'Delete a secret in an organization'],
  },
  variables: {
    list: ['getOrgVariablesList', 'Get an org-level variables list'],
    get: ['getOrgVariable', 'Get an org-level variable'],
    create: ['createOrgVariable', 'Create an org-level variable'],
    update: ['updateOrgVariable', 'Update an org-level variable'],
    remove: ['deleteOrgVariable', 'Delete an org-level variable'],
  },
  locate: (_context, { organization: { id, name } }) => ({
    scope: { ownerId: id },
    path: `/orgs/${name}/actions`,
  }),
})

const ofUsers = valueOperations({
  path: '/user/actions',
  category: 'user',
  access: { kind: 'signed-in' },
  params: {},
  secrets: {
    put: ['updateUserSecret', 'Create or Update a secret value in a user scope'],
    remove: ['deleteUserSecret', 'Delete a secret in a user scope'],
  },
  variables: {
    list: ['getUserVariablesList', 'Get the user-level list of variables of current user'],
    get: ['getUserVariable', 'Get a user-level variable of current user'],
    create: ['createUserVariable', 'Create a user-level variable'],
    update: ['updateUserVariable', 'Update a user-level variable of current user'],
    remove: ['deleteUserVariable', 'Delete a user-level variable of current user'],
  },
  locate: (_context, { user }) => ({ scope: { ownerId: user.id }, path: '/user/actions' }),
})

/** Operations that Gitea does not have: values of the site, for all repositories. */
const ofSite = valueOperations({
  path: '/admin/actions',
  category: 'admin',
  access: { kind: 'admin' },
  params: {},
  secrets: {
    list: ['adminListActionsSecrets', "List the site's actions secrets"],
    put: ['updateAdminSecret', 'Create or Update a secret value of the site'],
    remove: ['deleteAdminSecret', 'Delete a secret of the site'],
  },
  variables: {
    list: ['getAdminVariablesList', 'Get the variables list of the site'],
    get: ['getAdminVariable', 'Get a variable of the site'],
    create: ['createAdminVariable', 'Create a variable of the site'],
    update: ['updateAdminVariable', 'Update a variable of the site'],
    remove: ['deleteAdminVariable', 'Delete a variable of the site'],
  },
  locate: () => ({ scope: {}, path: '/admin/actions' }),
})

export const ACTION_VALUE_OPERATIONS: readonly AnyOperation[] = [
  ...ofRepositories,
  ...ofOrganizations,
  ...ofUsers,
  ...ofSite,
]
