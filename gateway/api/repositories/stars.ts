/** Stars of repositories over the API: list, check, add, remove. */

import { Type } from 'typebox'
import { notFound } from '../../../conf/failures.js'
import {
  addUserRelation,
  hasUserRelation,
  removeUserRelation,
} from '../../../sql/repositories/stars-and-watches.js'
import { visibleOwner } from '../../auth/authorize-accounts.js'
import { signedIn } from '../../auth/refusals.js'
import { USER_OBJECT } from '../../objects/accounts/user-object.js'
import { REPOSITORY_OBJECT } from '../../objects/repositories/repository-object.js'
import { type AnyOperation, defineOperation } from '../operation.js'
import { NO_QUERY, PAGE_QUERY } from '../paging.js'
import { relatedUsersPage } from './related-users-page.js'
import { repositoryPage } from './repository-lists.js'

const REPOSITORY_PARAMS = { owner: 'owner of the repo', repo: 'name of the repo' }

const READ = { kind: 'repository', mode: 'read', unit: 'any', isSignedIn: true } as const

const listOwn = defineOperation({
  id: 'userCurrentListStarred',
  method: 'GET',
  path: '/user/starred',
  summary: 'The repos that the authenticated user has starred',
  tags: ['user'],
  access: { kind: 'signed-in' },
  scopes: ['read:user', 'read:repository'],
  params: {},
  query: Type.Object(PAGE_QUERY),
  success: { status: 200, schema: Type.Array(REPOSITORY_OBJECT) },
  failures: [403],
  handle: (context, { grant, query }) =>
    repositoryPage(context, query, {
      path: '/user/starred',
      who: grant.who,
      search: { starredById: grant.user.id },
    }),
})

const listOfUser = defineOperation({
  id: 'userListStarred',
  method: 'GET',
  path: '/users/{username}/starred',
  summary: 'The repos that the given user has starred',
  tags: ['user'],
  access: { kind: 'anyone' },
  scopes: ['read:user', 'read:repository'],
  params: { username: 'username of the user' },
  query: Type.Object(PAGE_QUERY),
  success: { status: 200, schema: Type.Array(REPOSITORY_OBJECT) },
  failures: [403, 404],
  async handle(context, { grant, params, query }) {
    const user = await visibleOwner(context.db, grant.who, params['username'] ?? '')
    return repositoryPage(context, query, {
      path: `/users/${user.name}/starred`,
      who: grant.who,
      search: { starredById: user.id },
    })
  },
})

const listStargazers = defineOperation({
  id: 'repoListStargazers',
  method: 'GET',
  path: '/repos/{owner}/{repo}/stargazers',
  summary: "List a repo's stargazers",
  tags: ['repository'],
  access: { kind: 'repository', mode: 'read', unit: 'any' },
  scopes: ['read:repository'],
  params: REPOSITORY_PARAMS,
  query: Type.Object(PAGE_QUERY),
  success: { status: 200, schema: Type.Array(USER_OBJECT) },
  failures: [403, 404],
  handle: (context, { grant, query }) =>
    relatedUsersPage(context, grant, { tie: 'star', path: 'stargazers', query }),
})

const check = defineOperation({
  id: 'userCurrentCheckStarring',
  method: 'GET',
  path: '/user/starred/{owner}/{repo}',
  summary: 'Whether the authenticated is starring the repo',
  tags: ['user'],
  access: READ,
  scopes: ['read:user', 'read:repository'],
  params: REPOSITORY_PARAMS,
  query: NO_QUERY,
  success: { status: 204, schema: null },
  failures: [403, 404],
  async handle({ db }, { grant }) {
    const place = { userId: signedIn(grant.who).user.id, repositoryId: grant.repository.id }
    if (await hasUserRelation(db, 'star', place)) return { status: 204 }
    throw notFound()
  },
})

const put = defineOperation({
  id: 'userCurrentPutStar',
  method: 'PUT',
  path: '/user/starred/{owner}/{repo}',
  summary: 'Star the given repo',
  tags: ['user'],
  access: { ...READ, refusesBlocked: true },
  scopes: ['write:user', 'write:repository'],
  params: REPOSITORY_PARAMS,
  query: NO_QUERY,
  success: { status: 204, schema: null },
  failures: [403, 404],
  async handle({ db }, { grant }) {
    const place = { userId: signedIn(grant.who).user.id, repositoryId: grant.repository.id }
    await addUserRelation(db, 'star', place)
    return { status: 204 }
  },
})

const remove = defineOperation({
  id: 'userCurrentDeleteStar',
  method: 'DELETE',
  path: '/user/starred/{owner}/{repo}',
  summary: 'Unstar the given repo',
  tags: ['user'],
  access: READ,
  scopes: ['write:user', 'write:repository'],
  params: REPOSITORY_PARAMS,
  query: NO_QUERY,
  success: { status: 204, schema: null },
  failures: [403, 404],
  async handle({ db }, { grant }) {
    const place = { userId: signedIn(grant.who).user.id, repositoryId: grant.repository.id }
    await removeUserRelation(db, 'star', place)
    return { status: 204 }
  },
})

export const STAR_OPERATIONS: readonly AnyOperation[] = [
  listOwn,
  listOfUser,
  listStargazers,
  check,
  put,
  remove,
]
