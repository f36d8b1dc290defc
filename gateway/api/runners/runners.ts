/** Runners over the API: of a repository, an organization, the caller, and the site. */

import { refuseWithoutActions } from '../../actions/repositories/has-actions.js'
import { REPOSITORY_PARAMS } from '../issues/issue-params.js'
import type { AnyOperation } from '../operation.js'
import { runnerOperations } from './runner-operations.js'

const ofRepository = runnerOperations({
  path: '/repos/{owner}/{repo}/actions/runners',
  tokenPath: '/repos/{owner}/{repo}/actions/runners/registration-token',
  category: 'repository',
  word: 'Repo',
  access: { kind: 'repository', mode: 'admin' },
  params: REPOSITORY_PARAMS,
  locate(context, { repository }) {
    refuseWithoutActions(context, repository)
    return {
      scope: { ownerId: undefined, repositoryId: repository.id },
      path: `/repos/${repository.owner.name}/${repository.name}/actions/runners`,
    }
  },
})

const ofOrganization = runnerOperations({
  path: '/orgs/{org}/actions/runners',
  tokenPath: '/orgs/{org}/actions/runners/registration-token',
  category: 'organization',
  word: 'Org',
  access: { kind: 'organization', role: 'owner' },
  params: { org: 'name of the organization' },
  locate: (_context, { organization: { id, name } }) => ({
    scope: { ownerId: id, repositoryId: undefined },
    path: `/orgs/${name}/actions/runners`,
  }),
})

const ofUser = runnerOperations({
  path: '/user/actions/runners',
  tokenPath: '/user/actions/runners/registration-token',
  category: 'user',
  word: 'User',
  access: { kind: 'signed-in' },
  params: {},
  locate: (_context, { user }) => ({
    scope: { ownerId: user.id, repositoryId: undefined },
    path: '/user/actions/runners',
  }),
})

const ofSite = runnerOperations({
  path: '/admin/actions/runners',
  tokenPath: '/admin/runners/registration-token',
  category: 'admin',
  word: 'Admin',
  access: { kind: 'admin' },
  params: {},
  locate: () => ({
    scope: { ownerId: undefined, repositoryId: undefined },
    path: '/admin/actions/runners',
  }),
})

export const RUNNER_OPERATIONS: readonly AnyOperation[] = [
  ...ofRepository,
  ...ofOrganization,
  ...ofUser,
  ...ofSite,
]
