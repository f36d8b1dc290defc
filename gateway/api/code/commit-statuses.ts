/** Commit statuses over the API: create, list, and the combined status. */

import { Type } from 'typebox'
import { withObjects } from '../../../cgi/objects/with-objects.js'
import { findRevision } from '../../../cgi/refs/revision.js'
import { Failure, notFound } from '../../../conf/failures.js'
import type { Reply } from '../../../conf/http.js'
import {
  addCommitStatus,
  COMMIT_STATES,
  type CommitState,
  combineCommitStatuses,
  listCommitStatuses,
} from '../../../sql/code/commit-statuses.js'
import type { Repository } from '../../../sql/repositories/repositories.js'
import { actingUserOf } from '../../actions/code/acting-user.js'
import { statusReported } from '../../actions/code/commit-checks.js'
import type { Grants } from '../../auth/authorize.js'
import {
  COMBINED_STATUS,
  COMMIT_STATE,
  COMMIT_STATUS,
  combinedStatusObject,
  commitStatusObject,
} from '../../objects/code/commit-status-object.js'
import type { Context } from '../../request/context.js'
import { repositoryPathOf } from '../../request/repository-path.js'
import { REPOSITORY_PARAMS } from '../issues/issue-params.js'
import { type AnyOperation, defineOperation } from '../operation.js'
import { NO_QUERY, PAGE_QUERY, pageOf, pageReply } from '../paging.js'
import { jsonReply } from '../surface.js'

const SHA_PARAMS = { ...REPOSITORY_PARAMS, sha: 'sha of the commit' }
const REF_PARAMS = { ...REPOSITORY_PARAMS, ref: 'name of branch/tag/commit' }

const CONTEXT_CHARACTERS_MAX = 255
const TEXT_CHARACTERS_MAX = 4_096

const CREATE_STATUS_OPTION = Type.Object(
  {
    state: COMMIT_STATE,
    context: Type.Optional(Type.String({ maxLength: CONTEXT_CHARACTERS_MAX })),
    description: Type.Optional(Type.String({ maxLength: TEXT_CHARACTERS_MAX })),
    target_url: Type.Optional(Type.String({ maxLength: TEXT_CHARACTERS_MAX })),
  },
  { $id: 'CreateStatusOption' },
)

const LIST_QUERY = Type.Object({
  sort: Type.Optional(
    Type.Enum(['oldest', 'recentupdate', 'leastupdate', 'leastindex', 'highestindex'], {
      description: 'type of sort',
    }),
  ),
  state: Type.Optional(Type.Enum([...COMMIT_STATES], { description: 'type of state' })),
  ...PAGE_QUERY,
})

const create = defineOperation({
  id: 'repoCreateStatus',
  method: 'POST',
  path: '/repos/{owner}/{repo}/statuses/{sha}',
  summary: 'Create a commit status',
  tags: ['repository'],
  access: { kind: 'repository', mode: 'write', area: 'statuses' },
  scopes: ['write:repository'],
  params: SHA_PARAMS,
  query: NO_QUERY,
  body: CREATE_STATUS_OPTION,
  success: { status: 201, schema: COMMIT_STATUS },
  failures: [400, 403, 404, 422],
  async handle(context, { grant, params, body }) {
    const { repository } = grant
    const actor = actingUserOf(grant)
    const commitId = await commitOf(context, repository, params['sha'] ?? '')
    const status = await addCommitStatus(context.db, {
      repositoryId: repository.id,
      commitId,
      state: body.state as CommitState,
      context: body.context || 'default',
      description: body.description ?? '',
      targetUrl: webAddressOf(body.target_url ?? ''),
      creatorId: actor.id,
    })
    await statusReported(context, { repository, status, actor })
    return jsonReply(201, commitStatusObject(context, grant, status))
  },
})

/**
 * Returns `target_url`, which pages show as a link. Throws `invalid` unless it is an http or https
 * URL or empty.
 */
function webAddressOf(text: string): string {
  if (text === '') return ''
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return text
  throw new Failure('invalid', '[TargetUrl]: must be an http or https URL')
}

/** Returns the full id of the commit that `text` names. Throws `not_found`. */
async function commitOf(context: Context, repository: Repository, text: string): Promise<string> {
  const path = repositoryPathOf(context, repository)
  const revision = await withObjects(context.git, path, (objects) => findRevision(objects, text))
  if (revision === undefined) throw notFound()
  return revision.commitId
}

interface ListQuery {
  /** Revision as the path names it. */
  readonly name: string
  /** Path of the list, relative to the repository's path. */
  readonly path: string
  readonly query: { sort?: string; state?: string; page?: number; limit?: number }
}

async function listOf(
  context: Context,
  grant: Grants['repository'],
  { name, path, query }: ListQuery,
): Promise<Reply> {
  const { repository } = grant
  const { sort, state } = query
  if (state && !isState(state)) throw new Failure('bad_request', `Unknown commit state: ${state}`)
  const commitId = await commitOf(context, repository, name)
  const page = pageOf(query)
  const { entries, total } = await listCommitStatuses(context.db, {
    repositoryId: repository.id,
    commitId,
    page,
    state: isState(state) ? state : undefined,
    order: OLDEST_FIRST.has(sort ?? '') ? 'oldest' : 'newest',
  })
  const objects = entries.map((status) => commitStatusObject(context, grant, status))
  const full = `/repos/${repository.owner.name}/${repository.name}${path}`
  return pageReply(context, objects, { path: full, query: { sort, state }, page, total })
}

const OLDEST_FIRST: ReadonlySet<string> = new Set(['oldest', 'leastupdate', 'leastindex'])

function isState(text: string | undefined): text is CommitState {
  return COMMIT_STATES.some((state) => state === text)
}

const list = defineOperation({
  id: 'repoListStatuses',
  method: 'GET',
  path: '/repos/{owner}/{repo}/statuses/{sha}',
  summary: "Get a commit's statuses",
  tags: ['repository'],
  access: { kind: 'repository', mode: 'read', area: 'statuses' },
  scopes: ['read:repository'],
  params: SHA_PARAMS,
  query: LIST_QUERY,
  success: { status: 200, schema: Type.Array(COMMIT_STATUS) },
  dependsOn: 'repository',
  failures: [400, 404],
  handle(context, { grant, params, query }) {
    const name = params['sha'] ?? ''
    return listOf(context, grant, { name, path: `/statuses/${encodeURIComponent(name)}`, query })
  },
})

const listByRef = defineOperation({
  id: 'repoListStatusesByRef',
  method: 'GET',
  path: '/repos/{owner}/{repo}/commits/{ref}/statuses',
  summary: "Get a commit's statuses, by branch/tag/commit reference",
  tags: ['repository'],
  access: { kind: 'repository', mode: 'read', area: 'statuses' },
  scopes: ['read:repository'],
  params: REF_PARAMS,
  query: LIST_QUERY,
  success: { status: 200, schema: Type.Array(COMMIT_STATUS) },
  dependsOn: 'repository',
  failures: [400, 404],
  handle(context, { grant, params, query }) {
    const name = params['ref'] ?? ''
    const path = `/commits/${encodeURIComponent(name)}/statuses`
    return listOf(context, grant, { name, path, query })
  },
})

const combine = defineOperation({
  id: 'repoGetCombinedStatusByRef',
  method: 'GET',
  path: '/repos/{owner}/{repo}/commits/{ref}/status',
  summary: "Get a commit's combined status, by branch/tag/commit reference",
  tags: ['repository'],
  access: { kind: 'repository', mode: 'read', area: 'statuses' },
  scopes: ['read:repository'],
  params: REF_PARAMS,
  query: Type.Object(PAGE_QUERY),
  success: { status: 200, schema: COMBINED_STATUS },
  dependsOn: 'repository',
  failures: [400, 404],
  async handle(context, { grant, params, query }) {
    const { repository } = grant
    const commitId = await commitOf(context, repository, params['ref'] ?? '')
    const place = { repositoryId: repository.id, commitId }
    const page = pageOf(query)
    const combined = await combineCommitStatuses(context.db, place, page)
    const object = await combinedStatusObject(context, grant, { ...combined, commitId })
    const reference = encodeURIComponent(params['ref'] ?? '')
    return pageReply(context, object.statuses, {
      path: `/repos/${repository.owner.name}/${repository.name}/commits/${reference}/status`,
      page,
      total: combined.total,
      wrap: () => object,
    })
  },
})

export const COMMIT_STATUS_OPERATIONS: readonly AnyOperation[] = [create, list, listByRef, combine]
