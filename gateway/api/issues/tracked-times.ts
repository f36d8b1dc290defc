/** Times spent on issues over the API: list, add, delete. */

import { type Static, Type } from 'typebox'
import { Failure, notFound } from '../../../conf/failures.js'
import { findUser, type User } from '../../../sql/accounts/users.js'
import {
  addTrackedTime,
  deleteTrackedTimes,
  listTrackedTimes,
  type TimeFilter,
} from '../../../sql/issues/tracked-times.js'
import { atLeast } from '../../../sql/repositories/access.js'
import { isServed, issueOf, mayWrite, numberOf } from '../../actions/issues/issue-access.js'
import { removeTime, SECONDS_MAX, timeTrackerOf } from '../../actions/issues/track-time.js'
import type { Grants } from '../../auth/authorize.js'
import { viewerOf } from '../../auth/refusals.js'
import { TRACKED_TIME, trackedTimeObjects } from '../../objects/issues/tracked-time-object.js'
import { TIME } from '../../objects/schema.js'
import { readBounds, readTime, ZERO_TIME } from '../../objects/times.js'
import type { Context } from '../../request/context.js'
import { type AnyOperation, defineOperation } from '../operation.js'
import { NO_QUERY, PAGE_QUERY, pageOf, pageReply } from '../paging.js'
import { jsonReply } from '../surface.js'
import { ISSUE_PARAMS, REPOSITORY_PARAMS } from './issue-params.js'

type Grant = Grants['repository']

const ADD_TIME_OPTION = Type.Object(
  {
    time: Type.Integer({ minimum: 1, maximum: SECONDS_MAX, description: 'time in seconds' }),
    created: Type.Optional(TIME),
    user_name: Type.Optional(Type.String({ description: 'user who spent the time' })),
  },
  { $id: 'AddTimeOption' },
)

const SPAN_QUERY = {
  since: Type.Optional(Type.String({ description: 'only times added since then (RFC 3339)' })),
  before: Type.Optional(Type.String({ description: 'only times added before then (RFC 3339)' })),
}

const USER_QUERY = Type.Object({
  user: Type.Optional(Type.String({ description: 'name of the user who spent the time' })),
  ...SPAN_QUERY,
  ...PAGE_QUERY,
})

const PATH = '/repos/{owner}/{repo}/issues/{index}/times'
const READ = { kind: 'repository', mode: 'read', isSignedIn: true } as const

const listOfIssue = defineOperation({
  id: 'issueTrackedTimes',
  method: 'GET',
  path: PATH,
  summary: "List an issue's tracked times",
  tags: ['issue'],
  access: READ,
  scopes: ['read:issue'],
  params: ISSUE_PARAMS,
  query: USER_QUERY,
  success: { status: 200, schema: Type.Array(TRACKED_TIME) },
  failures: [403, 404, 422],
  async handle(context, { grant, params, query }) {
    const issue = await issueOf(context, grant, params)
    const userId = await shownUserId(context, grant, query.user)
    const path = `issues/${issue.number}/times`
    return await timesReply(context, grant, { query, path, filter: { issueId: issue.id, userId } })
  },
})

/**
 * Returns the id of the user whose times are listed; undefined for all. Users without write access
 * see their own times only. Throws `forbidden` if they ask for others, and `not_found`.
 */
async function shownUserId(
  { db }: Context,
  grant: Grant,
  name: string | undefined,
): Promise<number | undefined> {
  const wanted = name ? await findUser(db, name) : undefined
  if (name && wanted === undefined) throw notFound()
  const isSeer = grant.user?.isAdmin === true || mayWrite(grant)
  if (isSeer || wanted?.id === grant.user?.id) return wanted?.id
  if (wanted === undefined) return grant.user?.id ?? 0
  throw new Failure('forbidden', 'query by user not allowed; not enough rights')
}

interface TimesReply {
  readonly query: Static<typeof USER_QUERY>
  /** Path of the list below the repository. */
  readonly path: string
  readonly filter: Omit<TimeFilter, 'viewer' | 'page'>
}

async function timesReply(context: Context, grant: Grant, { query, path, filter }: TimesReply) {
  const { owner, name } = grant.repository
  const page = pageOf(query)
  const { entries, total } = await listTrackedTimes(context.db, {
    ...filter,
    ...readBounds(query),
    viewer: viewerOf(grant.who),
    page,
  })
  const objects = await trackedTimeObjects(context, entries, grant.user)
  const { page: _page, limit: _limit, ...given } = query
  const full = `/repos/${owner.name}/${name}/${path}`
  return pageReply(context, objects, { path: full, query: given, page, total })
}

const add = defineOperation({
  id: 'issueAddTime',
  method: 'POST',
  path: PATH,
  summary: 'Add tracked time to an issue',
  tags: ['issue'],
  access: { ...READ, refusesBlocked: true },
  scopes: ['write:issue'],
  params: ISSUE_PARAMS,
  query: NO_QUERY,
  body: ADD_TIME_OPTION,
  success: { status: 200, schema: TRACKED_TIME },
  failures: [403, 404, 422, 423],
  async handle(context, { grant, params, body }) {
    const issue = await issueOf(context, grant, params)
    const actor = await timeTrackerOf(context, grant, issue)
    const user = await spenderOf(context, grant, { actor, name: body.user_name })
    const isTimed = body.created !== undefined && body.created !== ZERO_TIME
    const createdAtMs = isTimed && body.created ? readTime(body.created) : Date.now()
    const time = { issueId: issue.id, userId: user.id, seconds: body.time, createdAtMs }
    const event = { kind: 'add_time_manual', actorId: actor.id } as const
    const added = await addTrackedTime(context.db, time, event)
    const [object] = await trackedTimeObjects(context, [added], grant.user)
    return jsonReply(200, object)
  },
})

/** Returns the user who spent the time. Only administrators can add it for others. */
async function spenderOf(
  { db }: Context,
  grant: Grant,
  { actor, name }: { readonly actor: User; readonly name: string | undefined },
): Promise<User> {
  const isAdministrator = actor.isAdmin || atLeast(grant.modes.any, 'admin')
  if (!name || !isAdministrator) return actor
  const user = await findUser(db, name)
  if (user === undefined) throw new Failure('invalid', `The user ${name} does not exist.`)
  return user
}

const reset = defineOperation({
  id: 'issueResetTime',
  method: 'DELETE',
  path: PATH,
  summary: "Delete the caller's tracked times of an issue",
  tags: ['issue'],
  access: READ,
  scopes: ['write:issue'],
  params: ISSUE_PARAMS,
  query: NO_QUERY,
  success: { status: 204, schema: null },
  failures: [403, 404, 423],
  async handle(context, { grant, params }) {
    const issue = await issueOf(context, grant, params)
    const { id } = await timeTrackerOf(context, grant, issue)
    const which = { actorId: id, userId: id }
    if ((await deleteTrackedTimes(context.db, issue.id, which)) === 0) throw notFound()
    return { status: 204 }
  },
})

const remove = defineOperation({
  id: 'issueDeleteTime',
  method: 'DELETE',
  path: `${PATH}/{id}`,
  summary: 'Delete a tracked time',
  tags: ['issue'],
  access: READ,
  scopes: ['write:issue'],
  params: { ...ISSUE_PARAMS, id: 'id of the time' },
  query: NO_QUERY,
  success: { status: 204, schema: null },
  failures: [403, 404, 423],
  async handle(context, { grant, params }) {
    const issue = await issueOf(context, grant, params)
    await removeTime(context, grant, { issue, id: numberOf(params, 'id') })
    return { status: 204 }
  },
})

const listOfRepository = defineOperation({
  id: 'repoTrackedTimes',
  method: 'GET',
  path: '/repos/{owner}/{repo}/times',
  summary: "List a repo's tracked times",
  tags: ['repository'],
  access: { ...READ, unit: 'issues', area: 'issues' },
  scopes: ['read:repository'],
  params: REPOSITORY_PARAMS,
  query: USER_QUERY,
  success: { status: 200, schema: Type.Array(TRACKED_TIME) },
  failures: [403, 404, 422],
  async handle(context, { grant, query }) {
    if (!isServed(grant.repository, { isPull: false })) throw notFound()
    const userId = await shownUserId(context, grant, query.user)
    const filter = { repositoryId: grant.repository.id, userId }
    return await timesReply(context, grant, { query, path: 'times', filter })
  },
})

const listOfUser = defineOperation({
  id: 'userTrackedTimes',
  method: 'GET',
  path: '/repos/{owner}/{repo}/times/{user}',
  summary: "List a user's tracked times in a repo",
  tags: ['repository'],
  access: { ...READ, unit: 'issues', area: 'issues' },
  scopes: ['read:repository'],
  params: { ...REPOSITORY_PARAMS, user: 'name of the user' },
  query: Type.Object(PAGE_QUERY),
  success: { status: 200, schema: Type.Array(TRACKED_TIME) },
  failures: [403, 404],
  async handle(context, { grant, params, query }) {
    if (!isServed(grant.repository, { isPull: false })) throw notFound()
    const user = params['user'] ?? ''
    const userId = await shownUserId(context, grant, user)
    const filter = { repositoryId: grant.repository.id, userId }
    return await timesReply(context, grant, { query, path: `times/${user}`, filter })
  },
})

const listOwn = defineOperation({
  id: 'userCurrentTrackedTimes',
  method: 'GET',
  path: '/user/times',
  summary: "List the current user's tracked times",
  tags: ['user'],
  access: { kind: 'signed-in' },
  scopes: ['read:user', 'read:issue'],
  params: {},
  query: Type.Object({ ...SPAN_QUERY, ...PAGE_QUERY }),
  success: { status: 200, schema: Type.Array(TRACKED_TIME) },
  failures: [422],
  async handle(context, { grant, query }) {
    const page = pageOf(query)
    const { entries, total } = await listTrackedTimes(context.db, {
      ...readBounds(query),
      userId: grant.user.id,
      viewer: viewerOf(grant.who),
      page,
    })
    const objects = await trackedTimeObjects(context, entries, grant.user)
    const given = { since: query.since, before: query.before }
    return pageReply(context, objects, { path: '/user/times', query: given, page, total })
  },
})

export const TRACKED_TIME_OPERATIONS: readonly AnyOperation[] = [
  listOfIssue,
  add,
  reset,
  remove,
  listOfRepository,
  listOfUser,
  listOwn,
]
