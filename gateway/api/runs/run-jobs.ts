/** Jobs of workflow runs over the API: jobs of a run, one job, its log, and the list of tasks. */

import { Type } from 'typebox'
import { notFound } from '../../../conf/failures.js'
import type { Reply } from '../../../conf/http.js'
import type { Page } from '../../../sql/database/page.js'
import { listJobs } from '../../../sql/runs/run-jobs.js'
import type { Run } from '../../../sql/runs/runs.js'
import { listTasks } from '../../../sql/runs/task-list.js'
import { refuseWithoutActions } from '../../actions/repositories/has-actions.js'
import type { Grants } from '../../auth/authorize.js'
import { readId } from '../../auth/refusals.js'
import { JOB, JOBS, jobObjects } from '../../objects/runs/job-object.js'
import { TASKS, taskObject } from '../../objects/runs/task-object.js'
import { FILE } from '../../objects/schema.js'
import type { Context } from '../../request/context.js'
import { wholeLogReply } from '../../runs/whole-log.js'
import { REPOSITORY_PARAMS } from '../issues/issue-params.js'
import { type AnyOperation, defineOperation } from '../operation.js'
import { NO_QUERY, PAGE_QUERY, pageOf, pageReply } from '../paging.js'
import { jsonReply } from '../surface.js'
import { jobOfId, runOfId } from './run-of-id.js'

const PATH = '/repos/{owner}/{repo}/actions'
const JOB_PARAMS = { ...REPOSITORY_PARAMS, job_id: 'id of the job' }
const READING = {
  method: 'GET',
  tags: ['repository'],
  access: { kind: 'repository', mode: 'read', area: 'actions' },
  scopes: ['read:repository'],
  failures: [404],
} as const

const LISTING = {
  ...READING,
  query: Type.Object(PAGE_QUERY),
  success: { status: 200, schema: JOBS },
  dependsOn: 'rows',
} as const
const RUN_PARAMS = { ...REPOSITORY_PARAMS, run: 'id of the run' }

const ofRun = defineOperation({
  id: 'listWorkflowRunJobs',
  path: `${PATH}/runs/{run}/jobs`,
  summary: 'Lists all jobs for a workflow run',
  ...LISTING,
  params: RUN_PARAMS,
  async handle(context, { grant, params, query }) {
    const run = await runOfId(context, { grant, params })
    return await attemptReply(context, { grant, run, attempt: run.attempt, page: pageOf(query) })
  },
})

const ofAttempt = defineOperation({
  id: 'listWorkflowRunAttemptJobs',
  path: `${PATH}/runs/{run}/attempts/{attempt}/jobs`,
  summary: 'Lists all jobs for a workflow run attempt',
  ...LISTING,
  params: { ...RUN_PARAMS, attempt: 'number of the attempt of the run' },
  async handle(context, { grant, params, query }) {
    const run = await runOfId(context, { grant, params })
    const attempt = readId(params['attempt'] ?? '') ?? 0
    if (attempt < 1 || attempt > run.attempt) throw notFound()
    return await attemptReply(context, { grant, run, attempt, page: pageOf(query) })
  },
})

interface ListedAttempt {
  readonly grant: Grants['repository']
  readonly run: Run
  readonly attempt: number
  readonly page: Page
}

/** Returns a page of the jobs of an attempt. */
async function attemptReply(
  context: Context,
  { grant: { repository }, run, attempt, page }: ListedAttempt,
): Promise<Reply> {
  const place = `/repos/${repository.owner.name}/${repository.name}/actions/runs/${run.id}`
  const isNewest = attempt === run.attempt
  const all = await listJobs(context.db, run.id, isNewest ? undefined : attempt)
  const listed = all.slice((page.page - 1) * page.limit, page.page * page.limit)
  return pageReply(context, await jobObjects(context, { run, repository }, listed), {
    path: isNewest ? `${place}/jobs` : `${place}/attempts/${attempt}/jobs`,
    page,
    total: all.length,
    wrap: (jobs) => ({ total_count: all.length, jobs }),
  })
}

const get = defineOperation({
  id: 'getWorkflowJob',
  path: `${PATH}/jobs/{job_id}`,
  summary: 'Gets a specific workflow job for a workflow run',
  ...READING,
  params: JOB_PARAMS,
  query: NO_QUERY,
  success: { status: 200, schema: JOB },
  dependsOn: 'rows',
  async handle(context, { grant, params }) {
    const { run, job } = await jobOfId(context, { grant, params })
    const [object] = await jobObjects(context, { run, repository: grant.repository }, [job])
    return jsonReply(200, object)
  },
})

const log = defineOperation({
  id: 'downloadActionsRunJobLogs',
  path: `${PATH}/jobs/{job_id}/logs`,
  summary: 'Downloads the job logs for a workflow run',
  ...READING,
  params: JOB_PARAMS,
  query: NO_QUERY,
  success: { status: 200, schema: FILE },
  async handle(context, { grant, params }) {
    const { run, job } = await jobOfId(context, { grant, params })
    return wholeLogReply(context, run, job)
  },
})

const tasks = defineOperation({
  id: 'ListActionTasks',
  path: `${PATH}/tasks`,
  summary: "List a repository's action tasks",
  ...READING,
  params: REPOSITORY_PARAMS,
  query: Type.Object(PAGE_QUERY),
  success: { status: 200, schema: TASKS },
  async handle(context, { grant, query }) {
    const { repository } = grant
    refuseWithoutActions(context, repository)
    const page = pageOf(query)
    const { entries, total } = await listTasks(context.db, repository.id, page)
    const objects = entries.map((task) => taskObject(context, repository, task))
    return pageReply(context, objects, {
      path: `/repos/${repository.owner.name}/${repository.name}/actions/tasks`,
      page,
      total,
      wrap: (runs) => ({ total_count: total, workflow_runs: runs }),
    })
  },
})

export const RUN_JOB_OPERATIONS: readonly AnyOperation[] = [ofRun, ofAttempt, get, log, tasks]
