/** Lists of repositories over the API: of an organization, of a user, and search results. */

import { type Static, Type } from 'typebox'
import { Failure } from '../../../conf/failures.js'
import type { Reply } from '../../../conf/http.js'
import {
  type RepositorySearch,
  type RepositorySort,
  searchRepositories,
} from '../../../sql/repositories/repository-lists.js'
import type { Identity } from '../../auth/authenticate.js'
import { visibleOwner } from '../../auth/authorize-accounts.js'
import { viewerOf } from '../../auth/refusals.js'
import {
  REPOSITORY_OBJECT,
  repositoryObjects,
} from '../../objects/repositories/repository-object.js'
import type { Context } from '../../request/context.js'
import { type AnyOperation, defineOperation } from '../operation.js'
import { PAGE_QUERY, type PageReply, pageOf, pageReply, wrapSearchResults } from '../paging.js'

const listOfOrganization = defineOperation({
  id: 'orgListRepos',
  method: 'GET',
  path: '/orgs/{org}/repos',
  summary: "List an organization's repos",
  tags: ['organization'],
  access: { kind: 'organization', role: 'visible' },
  scopes: ['read:organization'],
  params: { org: 'name of the organization' },
  query: Type.Object(PAGE_QUERY),
  success: { status: 200, schema: Type.Array(REPOSITORY_OBJECT) },
  failures: [404],
  handle: (context, { grant, query }) =>
    repositoryPage(context, query, {
      path: `/orgs/${grant.organization.name}/repos`,
      who: grant.who,
      search: { ownerId: grant.organization.id },
    }),
})

const listOfUser = defineOperation({
  id: 'userListRepos',
  method: 'GET',
  path: '/users/{username}/repos',
  summary: 'List the repos owned by the given user',
  tags: ['user'],
  access: { kind: 'anyone' },
  scopes: ['read:user', 'read:repository'],
  params: { username: 'username of the user' },
  query: Type.Object(PAGE_QUERY),
  success: { status: 200, schema: Type.Array(REPOSITORY_OBJECT) },
  failures: [404],
  async handle(context, { grant, params, query }) {
    const owner = await visibleOwner(context.db, grant.who, params['username'] ?? '')
    return repositoryPage(context, query, {
      path: `/users/${owner.name}/repos`,
      who: grant.who,
      search: { ownerId: owner.id },
    })
  },
})

export interface RepositoryPage extends Pick<PageReply, 'path' | 'query' | 'wrap'> {
  readonly who: Identity
  readonly search: Omit<RepositorySearch, 'viewer'>
}

/** Returns a page of the matching repositories that `who` can see. */
export async function repositoryPage(
  context: Context,
  given: { readonly page?: number; readonly limit?: number },
  { who, search, ...rest }: RepositoryPage,
): Promise<Reply> {
  const page = pageOf(given)
  const viewer = viewerOf(who)
  const { entries, total } = await searchRepositories(context.db, { ...search, viewer }, page)
  const objects = await repositoryObjects(context, entries, who)
  return pageReply(context, objects, { ...rest, page, total })
}

const SEARCH_QUERY = Type.Object({
  q: Type.Optional(Type.String({ description: 'keyword' })),
  topic: Type.Optional(
    Type.Boolean({ description: 'Limit search to repositories with keyword as topic' }),
  ),
  includeDesc: Type.Optional(
    Type.Boolean({ description: 'include search of keyword within repository description' }),
  ),
  uid: Type.Optional(
    Type.Integer({ description: 'only repos that the user owns or contributes to' }),
  ),
  priority_owner_id: Type.Optional(
    Type.Integer({ description: 'repo owner to prioritize in the results' }),
  ),
  starredBy: Type.Optional(
    Type.Integer({ description: 'only repos that the user with the given id has starred' }),
  ),
  private: Type.Optional(
    Type.Boolean({ description: 'include private repositories the user has access to' }),
  ),
  is_private: Type.Optional(
    Type.Boolean({ description: 'show only pubic, private or all repositories' }),
  ),
  template: Type.Optional(
    Type.Boolean({ description: 'include template repositories the user has access to' }),
  ),
  archived: Type.Optional(
    Type.Boolean({ description: 'show only archived, non-archived or all repositories' }),
  ),
  mode: Type.Optional(
    Type.String({ description: 'type of repository: fork, source, mirror or collaborative' }),
  ),
  exclusive: Type.Optional(
    Type.Boolean({ description: 'if uid is given, only repositories that the user owns' }),
  ),
  sort: Type.Optional(
    Type.String({ description: 'alpha, created, updated, size, git_size, stars, forks or id' }),
  ),
  order: Type.Optional(Type.String({ description: 'asc or desc' })),
  ...PAGE_QUERY,
})

type SearchQuery = Static<typeof SEARCH_QUERY>

const SEARCH_RESULTS = Type.Object(
  { ok: Type.Boolean(), data: Type.Array(REPOSITORY_OBJECT) },
  { $id: 'SearchResults' },
)

const search = defineOperation({
  id: 'repoSearch',
  method: 'GET',
  path: '/repos/search',
  summary: 'Search for repositories',
  tags: ['repository'],
  access: { kind: 'anyone', isForBoundTokens: true },
  scopes: ['read:repository'],
  params: {},
  query: SEARCH_QUERY,
  success: { status: 200, schema: SEARCH_RESULTS },
  failures: [422],
  handle(context, { grant, query }) {
    const { page: _page, limit: _limit, ...given } = query
    return repositoryPage(context, query, {
      path: '/repos/search',
      who: grant.who,
      wrap: wrapSearchResults,
      query: Object.fromEntries(Object.entries(given).map(([name, value]) => [name, `${value}`])),
      search: searchOf(query),
    })
  },
})

function searchOf(query: SearchQuery): Omit<RepositorySearch, 'viewer'> {
  const { q, topic = false } = query
  return {
    ...(topic ? { topic: q } : { text: q, hasTextInDescription: query.includeDesc }),
    firstOwnerId: query.priority_owner_id,
    isPrivate: query.private === false ? false : query.is_private,
    isTemplate: query.template,
    isArchived: query.archived,
    starredById: query.starredBy || undefined,
    ...ownerOf(query),
    ...modeOf(query),
    ...orderOf(query),
  }
}

function ownerOf({ uid, exclusive, mode }: SearchQuery): Partial<RepositorySearch> {
  if (!uid) return {}
  if (mode === 'collaborative') return { accessibleToId: uid, notOwnerId: uid }
  return exclusive || mode === 'source' ? { ownerId: uid } : { accessibleToId: uid }
}

const MODES: Readonly<Record<string, Partial<RepositorySearch>>> = {
  '': {},
  fork: { isFork: true },
  source: { isFork: false, isMirror: false },
  collaborative: { isMirror: false },
  mirror: { isMirror: true },
}

function modeOf({ mode = '' }: SearchQuery): Partial<RepositorySearch> {
  const found = Object.hasOwn(MODES, mode) ? MODES[mode] : undefined
  if (found === undefined) throw new Failure('invalid', `Invalid search mode: "${mode}"`)
  return found
}

const SORTS: ReadonlyMap<string, RepositorySort> = new Map([
  ...(['alpha', 'created', 'updated', 'size', 'stars', 'forks', 'id'] as const).map(
    (name) => [name, name] as const,
  ),
  ['git_size', 'size'],
])

/**
 * Returns sort and order. Without `sort`, the results are sorted by name and `order` is ignored.
 */
function orderOf({ sort = '', order = 'asc' }: SearchQuery): Partial<RepositorySearch> {
  if (sort === '') return { sort: 'alpha' }
  const found = SORTS.get(sort)
  if (found === undefined) throw new Failure('invalid', `Invalid sort mode: "${sort}"`)
  if (order !== 'asc' && order !== 'desc') {
    throw new Failure('invalid', `Invalid sort order: "${order}"`)
  }
  return { sort: found, order }
}

export const REPOSITORY_LIST_OPERATIONS: readonly AnyOperation[] = [
  listOfOrganization,
  listOfUser,
  search,
]
