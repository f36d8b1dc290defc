/** Watches of repositories over the API: list, check, watch, unwatch. */

import { Type } from 'typebox'
import { notFound } from '../../../conf/failures.js'
import type { Repository } from '../../../sql/repositories/repositories.js'
import {
  addUserRelation,
  hasUserRelation,
  removeUserRelation,
} from '../../../sql/repositories/stars-and-watches.js'
import { visibleOwner } from '../../auth/authorize-accounts.js'
import { signedIn } from '../../auth/refusals.js'
import { USER_OBJECT } from '../../objects/accounts/user-object.js'
import { REPOSITORY_OBJECT } from '../../objects/repositories/repository-object.js'
import type { Context } from '../../request/context.js'
import { type AnyOperation, defineOperation } from '../operation.js'
import { NO_QUERY, PAGE_QUERY } from '../paging.js'
import { jsonReply } from '../surface.js'
import { relatedUsersPage } from './related-users-page.js'
import { repositoryPage } from './repository-lists.js'
import { WATCH_INFO, watchInfo } from './watch-info.js'

const REPOSITORY_PARAMS = { owner: 'owner of the repo', repo: 'name of the repo' }

const READ = { kind: 'repository', mode: 'read', unit: 'any', isSignedIn: true } as const

const listOwn = defineOperation({
  id: 'userCurrentListSubscriptions',
  method: 'GET',
  path: '/user/subscriptions',
  summary: 'List repositories watched by the authenticated user',
  tags: ['user'],
  access: { kind: 'signed-in' },
  scopes: ['read:user', 'read:repository'],
  params: {},
  query: Type.Object(PAGE_QUERY),
  success: { status: 200, schema: Type.Array(REPOSITORY_OBJECT) },
  failures: [],
  handle: (context, { grant, query }) =>
    repositoryPage(context, query, {
      path: '/user/subscriptions',
      who: grant.who,
      search: { watchedById: grant.user.id },
    }),
})

const listOfUser = defineOperation({
  id: 'userListSubscriptions',
  method: 'GET',
  path: '/users/{username}/subscriptions',
  summary: 'List the repositories watched by a user',
  tags: ['user'],
  access: { kind: 'anyone' },
  scopes: ['read:user', 'read:repository'],
  params: { username: 'username of the user' },
  query: Type.Object(PAGE_QUERY),
  success: { status: 200, schema: Type.Array(REPOSITORY_OBJECT) },
  failures: [404],
  async handle(context, { grant, params, query }) {
    const user = await visibleOwner(context.db, grant.who, params['username'] ?? '')
    return repositoryPage(context, query, {
      path: `/users/${user.name}/subscriptions`,
      who: grant.who,
      search: { watchedById: user.id },
    })
  },
})

const listSubscribers = defineOperation({
  id: 'repoListSubscribers',
  method: 'GET',
  path: '/repos/{owner}/{repo}/subscribers',
  summary: "List a repo's watchers",
  tags: ['repository'],
  access: { kind: 'repository', mode: 'read', unit: 'any' },
  scopes: ['read:repository'],
  params: REPOSITORY_PARAMS,
  query: Type.Object(PAGE_QUERY),
  success: { status: 200, schema: Type.Array(USER_OBJECT) },
  failures: [404],
  handle: (context, { grant, query }) =>
    relatedUsersPage(context, grant, { tie: 'watch', path: 'subscribers', query }),
})

const check = defineOperation({
  id: 'userCurrentCheckSubscription',
  method: 'GET',
  path: '/repos/{owner}/{repo}/subscription',
  summary: 'Check if the current user is watching a repo',
  tags: ['repository'],
  access: READ,
  scopes: ['read:repository'],
  params: REPOSITORY_PARAMS,
  query: NO_QUERY,
  success: { status: 200, schema: WATCH_INFO },
  failures: [404],
  async handle(context, { grant: { who, repository } }) {
    const place = { userId: signedIn(who).user.id, repositoryId: repository.id }
    if (!(await hasUserRelation(context.db, 'watch', place))) throw notFound()
    return jsonReply(200, infoOf(context, repository))
  },
})

const put = defineOperation({
  id: 'userCurrentPutSubscription',
  method: 'PUT',
  path: '/repos/{owner}/{repo}/subscription',
  summary: 'Watch a repo',
  tags: ['repository'],
  access: { ...READ, refusesBlocked: true },
  scopes: ['write:repository'],
  params: REPOSITORY_PARAMS,
  query: NO_QUERY,
  success: { status: 200, schema: WATCH_INFO },
  failures: [403, 404],
  async handle(context, { grant: { who, repository } }) {
    const place = { userId: signedIn(who).user.id, repositoryId: repository.id }
    await addUserRelation(context.db, 'watch', place)
    return jsonReply(200, infoOf(context, repository))
  },
})

function infoOf(context: Context, repository: Repository) {
  const { createdAtMs } = repository
  return watchInfo(context, repository, {
    isSubscribed: true,
    createdAtMs,
    path: '/subscription',
  })
}

const remove = defineOperation({
  id: 'userCurrentDeleteSubscription',
  method: 'DELETE',
  path: '/repos/{owner}/{repo}/subscription',
  summary: 'Unwatch a repo',
  tags: ['repository'],
  access: READ,
  scopes: ['write:repository'],
  params: REPOSITORY_PARAMS,
  query: NO_QUERY,
  success: { status: 204, schema: null },
  failures: [404],
  async handle({ db }, { grant: { who, repository } }) {
    const place = { userId: signedIn(who).user.id, repositoryId: repository.id }
    await removeUserRelation(db, 'watch', place)
    return { status: 204 }
  },
})

export const WATCH_OPERATIONS: readonly AnyOperation[] = [
  listOwn,
  listOfUser,
  listSubscribers,
  check,
  put,
  remove,
]
