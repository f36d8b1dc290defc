/** Notifications over the API: list, count, read, and mark as read, pinned or unread. */

import { type Static, Type } from 'typebox'
import { notFound } from '../../../conf/failures.js'
import type { Reply } from '../../../conf/http.js'
import {
  countThreads,
  listThreads,
  markThreads,
  NOTIFICATION_STATUSES,
  type NotificationStatus,
  type ThreadFilter,
} from '../../../sql/notifications/notifications.js'
import type { Repository } from '../../../sql/repositories/repositories.js'
import type { Identity } from '../../auth/authenticate.js'
import { readId, signedIn, viewerOf } from '../../auth/refusals.js'
import {
  NOTIFICATION_THREAD,
  threadObjects,
} from '../../objects/notifications/notification-object.js'
import { readBounds } from '../../objects/times.js'
import type { Context } from '../../request/context.js'
import { type AnyOperation, defineOperation } from '../operation.js'
import { NO_QUERY, PAGE_QUERY, pageOf, pageReply } from '../paging.js'
import { jsonReply } from '../surface.js'

const REPOSITORY_PARAMS = { owner: 'owner of the repo', repo: 'name of the repo' }

const words = (description: string) =>
  Type.Optional(Type.Array(Type.String(), { description, collectionFormat: 'multi' }))

const text = (description: string) => Type.Optional(Type.String({ description }))

const LIST_QUERY = Type.Object({
  all: Type.Optional(
    Type.Boolean({ description: 'If true, show notifications marked as read. Default is false' }),
  ),
  'status-types': words('unread, read and/or pinned; unread and pinned by default'),
  'subject-type': words('issue, pull, commit and/or repository'),
  since: text('Only show notifications updated after the given time (RFC 3339)'),
  before: text('Only show notifications updated before the given time (RFC 3339)'),
  ...PAGE_QUERY,
})

const READ_QUERY = Type.Object({
  last_read_at: text('Notifications updated after this time (RFC 3339) are not marked'),
  all: text('If true, mark notifications of any status. Default is false'),
  'status-types': words('unread, read and/or pinned; unread by default'),
  'to-status': text('Status to mark notifications as; read by default'),
})

type ListQuery = Static<typeof LIST_QUERY>
type ReadQuery = Static<typeof READ_QUERY>

/** User and repository of the notifications; without a repository, those of all repositories. */
interface Place {
  readonly who: Identity
  readonly repository?: Repository
}

const list = defineOperation({
  id: 'notifyGetList',
  method: 'GET',
  path: '/notifications',
  summary: "List users's notification threads",
  tags: ['notification'],
  access: { kind: 'signed-in' },
  scopes: ['read:notification'],
  params: {},
  query: LIST_QUERY,
  success: { status: 200, schema: Type.Array(NOTIFICATION_THREAD) },
  failures: [],
  handle: (context, { grant, query }) => threadPage(context, { who: grant.who }, query),
})

const listOfRepository = defineOperation({
  id: 'notifyGetRepoList',
  method: 'GET',
  path: '/repos/{owner}/{repo}/notifications',
  summary: "List users's notification threads on a specific repo",
  tags: ['notification'],
  access: { kind: 'repository', mode: 'read', unit: 'any', isSignedIn: true },
  scopes: ['read:notification'],
  params: REPOSITORY_PARAMS,
  query: LIST_QUERY,
  success: { status: 200, schema: Type.Array(NOTIFICATION_THREAD) },
  failures: [404],
  handle: (context, { grant, query }) => threadPage(context, grant, query),
})

async function threadPage(context: Context, place: Place, query: ListQuery): Promise<Reply> {
  const page = pageOf(query)
  const filter: ThreadFilter = {
    ...filterOf(place),
    ...readBounds(query),
    statuses: query.all ? undefined : statusesOf(query['status-types'], ['unread', 'pinned']),
    kinds: kindsOf(query['subject-type']),
  }
  const { entries, total } = await listThreads(context.db, filter, page)
  return pageReply(context, await threadObjects(context, entries, place.who), {
    path: pathOf(place),
    page,
    total,
    query: {
      all: query.all ? 'true' : undefined,
      since: query.since,
      before: query.before,
      'status-types': query['status-types']?.join(),
      'subject-type': query['subject-type']?.join(),
    },
  })
}

function filterOf({ who, repository }: Place) {
  const { id: userId } = signedIn(who).user
  return { userId, viewer: viewerOf(who), repositoryId: repository?.id }
}

function pathOf({ repository }: Place): string {
  if (repository === undefined) return '/notifications'
  return `/repos/${repository.owner.name}/${repository.name}/notifications`
}

/** Returns the known statuses among `given`, or `usual` if there are none. */
function statusesOf(
  given: readonly string[] = [],
  usual: readonly NotificationStatus[],
): readonly NotificationStatus[] {
  const known = NOTIFICATION_STATUSES.filter((status) => given.includes(status))
  return known.length === 0 ? usual : known
}

/**
 * Returns the kinds of threads for subject types. Releases and transfers have the type
 * `repository`, and failed runs the type `commit`.
 */
function kindsOf(given: readonly string[] | undefined): ThreadFilter['kinds'] {
  if (given === undefined || given.length === 0) return undefined
  return KINDS.filter(([, type]) => given.includes(type)).map(([kind]) => kind)
}

const KINDS = [
  ['issue', 'issue'],
  ['pull', 'pull'],
  ['release', 'repository'],
  ['transfer', 'repository'],
  ['run', 'commit'],
] as const

const markAll = defineOperation({
  id: 'notifyReadList',
  method: 'PUT',
  path: '/notifications',
  summary: 'Mark notification threads as read, pinned or unread',
  tags: ['notification'],
  access: { kind: 'signed-in' },
  scopes: ['write:notification'],
  params: {},
  query: READ_QUERY,
  success: { status: 205, schema: Type.Array(NOTIFICATION_THREAD) },
  failures: [],
  handle: (context, { grant, query }) => markReply(context, { who: grant.who }, query),
})

const markOfRepository = defineOperation({
  id: 'notifyReadRepoList',
  method: 'PUT',
  path: '/repos/{owner}/{repo}/notifications',
  summary: 'Mark notification threads as read, pinned or unread on a specific repo',
  tags: ['notification'],
  access: { kind: 'repository', mode: 'read', unit: 'any', isSignedIn: true },
  scopes: ['write:notification'],
  params: REPOSITORY_PARAMS,
  query: READ_QUERY,
  success: { status: 205, schema: Type.Array(NOTIFICATION_THREAD) },
  failures: [404],
  handle: (context, { grant, query }) => markReply(context, grant, query),
})

/** Marks all matching threads, and replies with the first page of them. */
async function markReply(context: Context, place: Place, query: ReadQuery): Promise<Reply> {
  const { db } = context
  const nowMs = Date.now()
  const { beforeMs = nowMs + 1 } = readBounds({ before: query.last_read_at })
  const filter: ThreadFilter = {
    ...filterOf(place),
    // Notifications that arrive during the request are not marked.
    beforeMs: Math.min(beforeMs, nowMs + 1),
    statuses: isTrue(query.all) ? undefined : statusesOf(query['status-types'], ['unread']),
  }
  const status = targetOf(query)
  const { entries } = await listThreads(db, filter, pageOf({ limit: Number.POSITIVE_INFINITY }))
  await markThreads(db, filter, status)
  const marked = entries.map((thread) => ({ ...thread, status }))
  return jsonReply(205, await threadObjects(context, marked, place.who))
}

function isTrue(value = ''): boolean {
  return value === 'true' || value === '1'
}

/** Returns the status to set. An unknown status is ignored, as in Gitea. */
function targetOf(query: { readonly 'to-status'?: string }): NotificationStatus {
  return NOTIFICATION_STATUSES.find((status) => status === query['to-status']) ?? 'read'
}

const count = defineOperation({
  id: 'notifyNewAvailable',
  method: 'GET',
  path: '/notifications/new',
  summary: 'Check if unread notifications exist',
  tags: ['notification'],
  access: { kind: 'signed-in' },
  scopes: ['read:notification'],
  params: {},
  query: NO_QUERY,
  success: {
    status: 200,
    schema: Type.Object({ new: Type.Integer() }, { $id: 'NotificationCount' }),
  },
  dependsOn: 'rows',
  failures: [],
  async handle(context, { grant }) {
    const filter = { ...filterOf(grant), statuses: ['unread'] as const }
    return jsonReply(200, { new: await countThreads(context.db, filter) })
  },
})

const THREAD_PARAMS = { id: 'id of notification thread' }

const get = defineOperation({
  id: 'notifyGetThread',
  method: 'GET',
  path: '/notifications/threads/{id}',
  summary: 'Get notification thread by ID',
  tags: ['notification'],
  access: { kind: 'signed-in' },
  scopes: ['read:notification'],
  params: THREAD_PARAMS,
  query: NO_QUERY,
  success: { status: 200, schema: NOTIFICATION_THREAD },
  failures: [403, 404],
  async handle(context, { grant: { who }, params }) {
    const thread = await threadOf(context, who, params)
    const [object] = await threadObjects(context, [thread], who)
    if (object === undefined) throw notFound()
    return jsonReply(200, object)
  },
})

/**
 * Returns the caller's thread `{id}`. Throws `not_found`, also if the caller can no longer see its
 * subject.
 */
async function threadOf({ db }: Context, who: Identity, params: Readonly<Record<string, string>>) {
  const id = readId(params['id'] ?? '') ?? 0
  const page = { page: 1, limit: 1 }
  const { entries } = await listThreads(db, { ...filterOf({ who }), id }, page)
  const [thread] = entries
  if (thread === undefined) throw notFound()
  return thread
}

const mark = defineOperation({
  id: 'notifyReadThread',
  method: 'PATCH',
  path: '/notifications/threads/{id}',
  summary: 'Mark notification thread as read by ID',
  tags: ['notification'],
  access: { kind: 'signed-in' },
  scopes: ['write:notification'],
  params: THREAD_PARAMS,
  query: Type.Object({ 'to-status': text('Status to mark notifications as; read by default') }),
  success: { status: 205, schema: NOTIFICATION_THREAD },
  failures: [403, 404],
  async handle(context, { grant: { who, user }, params, query }) {
    const thread = await threadOf(context, who, params)
    const status = targetOf(query)
    await markThreads(context.db, { userId: user.id, id: thread.id }, status)
    const [object] = await threadObjects(context, [{ ...thread, status }], who)
    if (object === undefined) throw notFound()
    return jsonReply(205, object)
  },
})

export const NOTIFICATION_OPERATIONS: readonly AnyOperation[] = [
  list,
  listOfRepository,
  markAll,
  markOfRepository,
  count,
  get,
  mark,
]
