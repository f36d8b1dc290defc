/** Subscriptions to issues over the API: list, check, subscribe, unsubscribe. */

import { Type } from 'typebox'
import { Failure } from '../../../conf/failures.js'
import type { Reply } from '../../../conf/http.js'
import {
  listIssueSubscribers,
  setIssueSubscription,
} from '../../../sql/issues/issue-subscriptions.js'
import { isNotifiedOfIssue } from '../../../sql/notifications/audiences.js'
import { issueOf } from '../../actions/issues/issue-access.js'
import type { Grants } from '../../auth/authorize.js'
import { signedIn, viewerOf } from '../../auth/refusals.js'
import { findVisibleUser } from '../../auth/visible-owner.js'
import { USER_OBJECT, userObject } from '../../objects/accounts/user-object.js'
import type { Context } from '../../request/context.js'
import { type AnyOperation, defineOperation } from '../operation.js'
import { NO_QUERY, PAGE_QUERY, pageOf, pageReply } from '../paging.js'
import { WATCH_INFO, watchInfo } from '../repositories/watch-info.js'
import { jsonReply } from '../surface.js'
import { ISSUE_PARAMS } from './issue-params.js'

const USER_PARAMS = { ...ISSUE_PARAMS, user: 'user to subscribe' }

const READ = { kind: 'repository', mode: 'read', isSignedIn: true } as const

const list = defineOperation({
  id: 'issueSubscriptions',
  method: 'GET',
  path: '/repos/{owner}/{repo}/issues/{index}/subscriptions',
  summary: 'Get users who subscribed on an issue.',
  tags: ['issue'],
  access: { kind: 'repository', mode: 'read' },
  scopes: ['read:issue'],
  params: ISSUE_PARAMS,
  query: Type.Object(PAGE_QUERY),
  success: { status: 200, schema: Type.Array(USER_OBJECT) },
  failures: [404],
  async handle(context, { grant, params, query }) {
    const { id: issueId, number } = await issueOf(context, grant, params)
    const page = pageOf(query)
    const { repository, user, who } = grant
    const search = { issueId, viewer: viewerOf(who) }
    const { entries, total } = await listIssueSubscribers(context.db, search, page)
    const objects = entries.map((entry) => userObject(context, entry, user))
    const { owner, name } = repository
    const path = `/repos/${owner.name}/${name}/issues/${number}/subscriptions`
    return pageReply(context, objects, { path, page, total })
  },
})

const check = defineOperation({
  id: 'issueCheckSubscription',
  method: 'GET',
  path: '/repos/{owner}/{repo}/issues/{index}/subscriptions/check',
  summary: 'Check if user is subscribed to an issue',
  tags: ['issue'],
  access: READ,
  scopes: ['read:issue'],
  params: ISSUE_PARAMS,
  query: NO_QUERY,
  success: { status: 200, schema: WATCH_INFO },
  failures: [404],
  async handle(context, { grant, params }) {
    const { id: issueId, number, createdAtMs } = await issueOf(context, grant, params)
    const { repository } = grant
    const { id: userId } = signedIn(grant.who).user
    const place = { issueId, repositoryId: repository.id, userId }
    const isSubscribed = await isNotifiedOfIssue(context.db, place)
    const path = `/issues/${number}/subscriptions`
    return jsonReply(200, watchInfo(context, repository, { isSubscribed, createdAtMs, path }))
  },
})

const add = defineOperation({
  id: 'issueAddSubscription',
  method: 'PUT',
  path: '/repos/{owner}/{repo}/issues/{index}/subscriptions/{user}',
  summary: 'Subscribe user to issue',
  tags: ['issue'],
  access: { ...READ, refusesBlocked: true },
  scopes: ['write:issue'],
  params: USER_PARAMS,
  query: NO_QUERY,
  success: { status: 201, schema: null },
  failures: [403, 404],
  handle: (context, { grant, params }) => subscribe(context, { grant, params, isSubscribed: true }),
})

const remove = defineOperation({
  id: 'issueDeleteSubscription',
  method: 'DELETE',
  path: '/repos/{owner}/{repo}/issues/{index}/subscriptions/{user}',
  summary: 'Unsubscribe user from issue',
  tags: ['issue'],
  access: READ,
  scopes: ['write:issue'],
  params: USER_PARAMS,
  query: NO_QUERY,
  success: { status: 201, schema: null },
  failures: [403, 404],
  handle: (context, { grant, params }) =>
    subscribe(context, { grant, params, isSubscribed: false }),
})

interface Input {
  readonly grant: Grants['repository']
  readonly params: Readonly<Record<string, string>>
  readonly isSubscribed: boolean
}

/** Subscribes or unsubscribes a user. Replies 201 if that changed something, and 200 if not. */
async function subscribe(context: Context, { grant, params, isSubscribed }: Input): Promise<Reply> {
  const { db } = context
  const { user } = signedIn(grant.who)
  const { id: issueId } = await issueOf(context, grant, params)
  const subscriber = await findVisibleUser(db, params['user'] ?? '', user)
  if (subscriber.id !== user.id && !user.isAdmin) throw new Failure('forbidden', OWN_ONLY)
  const place = { issueId, userId: subscriber.id }
  const wasSubscribed = await isNotifiedOfIssue(db, { ...place, repositoryId: grant.repository.id })
  if (wasSubscribed === isSubscribed) return { status: 200 }
  await setIssueSubscription(db, { ...place, isSubscribed })
  return { status: 201 }
}

const OWN_ONLY = 'only admin and user for itself can change the subscription of an issue'

export const ISSUE_SUBSCRIPTION_OPERATIONS: readonly AnyOperation[] = [list, check, add, remove]
