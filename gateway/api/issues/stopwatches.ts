/** Stopwatches over the API: start, stop, delete, list. */

import { Type } from 'typebox'
import { Failure } from '../../../conf/failures.js'
import {
  cancelStopwatch,
  listStopwatches,
  type StopwatchPlace,
  startStopwatch,
  stopStopwatch,
} from '../../../sql/issues/stopwatches.js'
import { actingUserOf } from '../../actions/code/acting-user.js'
import { issueOf } from '../../actions/issues/issue-access.js'
import type { Grants } from '../../auth/authorize.js'
import { viewerOf } from '../../auth/refusals.js'
import { STOP_WATCH, stopwatchObjects } from '../../objects/issues/tracked-time-object.js'
import type { Context } from '../../request/context.js'
import { type AnyOperation, defineOperation } from '../operation.js'
import { NO_QUERY, PAGE_QUERY, pageOf, pageReply } from '../paging.js'
import { ISSUE_PARAMS } from './issue-params.js'

const PATH = '/repos/{owner}/{repo}/issues/{index}/stopwatch'

const CHANGE = {
  tags: ['issue'],
  access: { kind: 'repository', mode: 'write' },
  scopes: ['write:issue'],
  params: ISSUE_PARAMS,
  query: NO_QUERY,
  failures: [403, 404, 409, 423],
} as const

const start = defineOperation({
  ...CHANGE,
  id: 'issueStartStopWatch',
  method: 'POST',
  path: `${PATH}/start`,
  summary: 'Start a stopwatch on an issue',
  success: { status: 201, schema: null },
  async handle(context, { grant, params }) {
    await startStopwatch(context.db, await placeOf(context, grant, params))
    return { status: 201 }
  },
})

const stop = defineOperation({
  ...CHANGE,
  id: 'issueStopStopWatch',
  method: 'POST',
  path: `${PATH}/stop`,
  summary: "Stop an issue's stopwatch and add its time",
  success: { status: 201, schema: null },
  async handle(context, { grant, params }) {
    const place = await placeOf(context, grant, params)
    if (!(await stopStopwatch(context.db, place))) throw notRunning('stop')
    return { status: 201 }
  },
})

const remove = defineOperation({
  ...CHANGE,
  id: 'issueDeleteStopWatch',
  method: 'DELETE',
  path: `${PATH}/delete`,
  summary: "Delete an issue's stopwatch without its time",
  success: { status: 204, schema: null },
  async handle(context, { grant, params }) {
    const place = await placeOf(context, grant, params)
    if (!(await cancelStopwatch(context.db, place))) throw notRunning('cancel')
    return { status: 204 }
  },
})

async function placeOf(
  context: Context,
  grant: Grants['repository'],
  params: Readonly<Record<string, string>>,
): Promise<StopwatchPlace> {
  const { id: issueId } = await issueOf(context, grant, params)
  return { userId: actingUserOf(grant).id, issueId }
}

function notRunning(action: string): Failure {
  return new Failure('conflict', `cannot ${action} a non existent stopwatch`)
}

const list = defineOperation({
  id: 'userGetStopWatches',
  method: 'GET',
  path: '/user/stopwatches',
  summary: "List the current user's running stopwatches",
  tags: ['user'],
  access: { kind: 'signed-in' },
  scopes: ['read:user', 'read:issue'],
  params: {},
  query: Type.Object(PAGE_QUERY),
  success: { status: 200, schema: Type.Array(STOP_WATCH) },
  failures: [],
  async handle(context, { grant, query }) {
    const page = pageOf(query)
    const shown = { viewer: viewerOf(grant.who), page }
    const { entries, total } = await listStopwatches(context.db, grant.user.id, shown)
    const objects = await stopwatchObjects(context, entries, grant.user)
    return pageReply(context, objects, { path: '/user/stopwatches', page, total })
  },
})

export const STOPWATCH_OPERATIONS: readonly AnyOperation[] = [start, stop, remove, list]
