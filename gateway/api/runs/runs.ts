/** Workflow runs over the API: list, read, cancel, delete. */

import { Type } from 'typebox'
import { Failure } from '../../../conf/failures.js'
import { removeRun } from '../../../sql/runs/remove-run.js'
import { listRuns } from '../../../sql/runs/runs.js'
import { isFinal } from '../../../sql/runs/statuses.js'
import { actingUserOf } from '../../actions/code/acting-user.js'
import { refuseWithoutActions } from '../../actions/repositories/has-actions.js'
import { RUN, RUNS, runObjects } from '../../objects/runs/run-object.js'
import { approveRun } from '../../runs/approve-run.js'
import { cancelRun } from '../../runs/cancel-run.js'
import { REPOSITORY_PARAMS } from '../issues/issue-params.js'
import { type AnyOperation, defineOperation } from '../operation.js'
import { NO_QUERY, PAGE_QUERY, pageOf, pageReply } from '../paging.js'
import { jsonReply } from '../surface.js'
import { filterFields, RUN_FILTER_QUERY, runFilterOf } from './run-filter.js'
import { runOfId } from './run-of-id.js'

const PATH = '/repos/{owner}/{repo}/actions/runs'
const READING = {
  tags: ['repository'],
  access: { kind: 'repository', mode: 'read', area: 'actions' },
  scopes: ['read:repository'],
} as const
const WRITING = {
  tags: ['repository'],
  access: { kind: 'repository', mode: 'write', area: 'actions' },
  scopes: ['write:repository'],
} as const
const ONE = { path: `${PATH}/{run}`, params: { ...REPOSITORY_PARAMS, run: 'id of the run' } }

const list = defineOperation({
  id: 'getWorkflowRuns',
  method: 'GET',
  path: PATH,
  summary: 'Lists all runs for a repository run',
  ...READING,
  params: REPOSITORY_PARAMS,
  query: Type.Object({
    ...RUN_FILTER_QUERY,
    ...PAGE_QUERY,
  }),
  success: { status: 200, schema: RUNS },
  dependsOn: 'rows',
  failures: [400, 404],
  async handle(context, { grant, query }) {
    const { repository } = grant
    refuseWithoutActions(context, repository)
    const filter = await runFilterOf(context, query, grant.user)
    const page = pageOf(query)
    const { entries, total } = await listRuns(context.db, repository.id, { ...page, filter })
    return pageReply(context, await runObjects(context, grant, entries), {
      path: `/repos/${repository.owner.name}/${repository.name}/actions/runs`,
      query: filterFields(query),
      page,
      total,
      wrap: (runs) => ({ total_count: total, workflow_runs: runs }),
    })
  },
})

const get = defineOperation({
  id: 'GetWorkflowRun',
  method: 'GET',
  ...ONE,
  summary: 'Gets a specific workflow run',
  ...READING,
  query: NO_QUERY,
  success: { status: 200, schema: RUN },
  dependsOn: 'rows',
  failures: [404],
  async handle(context, { grant, params }) {
    const run = await runOfId(context, { grant, params })
    const [object] = await runObjects(context, grant, [run])
    return jsonReply(200, object)
  },
})

const cancel = defineOperation({
  id: 'cancelWorkflowRun',
  method: 'POST',
  path: `${ONE.path}/cancel`,
  params: ONE.params,
  summary: 'Cancel a workflow run and its jobs',
  ...WRITING,
  query: NO_QUERY,
  success: { status: 200, schema: null },
  failures: [403, 404, 409],
  async handle(context, { grant, params }) {
    const run = await runOfId(context, { grant, params })
    if (isFinal(run.status)) throw new Failure('conflict', `Run ${run.id} has ended.`)
    await cancelRun(context, run)
    return { status: 200 }
  },
})

const remove = defineOperation({
  id: 'deleteActionRun',
  method: 'DELETE',
  ...ONE,
  summary: 'Delete a workflow run',
  ...WRITING,
  query: NO_QUERY,
  success: { status: 204, schema: null },
  failures: [400, 403, 404],
  async handle(context, { grant, params }) {
    const run = await runOfId(context, { grant, params })
    if (!isFinal(run.status)) {
      throw new Failure('bad_request', `Run ${run.id} has not ended. Cancel it first.`)
    }
    await removeRun(context.db, run)
    return { status: 204 }
  },
})

const approve = defineOperation({
  id: 'approveWorkflowRun',
  method: 'POST',
  path: `${ONE.path}/approve`,
  params: ONE.params,
  summary: 'Approve a workflow run of a fork',
  ...WRITING,
  query: NO_QUERY,
  success: { status: 200, schema: null },
  failures: [403, 404, 409],
  async handle(context, { grant, params }) {
    const run = await runOfId(context, { grant, params })
    if (!(await approveRun(context, run, actingUserOf(grant)))) {
      throw new Failure('conflict', `Run ${run.id} does not wait for approval.`)
    }
    return { status: 200 }
  },
})

export const RUN_OPERATIONS: readonly AnyOperation[] = [list, get, cancel, approve, remove]
