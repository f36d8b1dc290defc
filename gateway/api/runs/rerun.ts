/** Re-runs over the API: all jobs of a run, those that have failed, or one. */

import { notFound } from '../../../conf/failures.js'
import { originKeyOf } from '../../../conf/job-keys.js'
import { listJobs } from '../../../sql/runs/run-jobs.js'
import { actingUserOf } from '../../actions/code/acting-user.js'
import { JOB, jobObjects } from '../../objects/runs/job-object.js'
import { RUN, runObjects } from '../../objects/runs/run-object.js'
import { rerunRun } from '../../runs/rerun-run.js'
import { REPOSITORY_PARAMS } from '../issues/issue-params.js'
import { type AnyOperation, defineOperation } from '../operation.js'
import { NO_QUERY } from '../paging.js'
import { jsonReply } from '../surface.js'
import { jobOfId, runOfId } from './run-of-id.js'

const PATH = '/repos/{owner}/{repo}/actions/runs/{run}'
const PARAMS = { ...REPOSITORY_PARAMS, run: 'id of the run' }
const WRITING = {
  method: 'POST',
  tags: ['repository'],
  access: { kind: 'repository', mode: 'write', area: 'actions' },
  scopes: ['write:repository'],
  query: NO_QUERY,
  failures: [400, 403, 404],
} as const

const all = defineOperation({
  id: 'rerunWorkflowRun',
  path: `${PATH}/rerun`,
  summary: 'Reruns an entire workflow run',
  ...WRITING,
  params: PARAMS,
  success: { status: 201, schema: RUN },
  async handle(context, { grant, params }) {
    const run = await runOfId(context, { grant, params })
    const { repository } = grant
    await rerunRun(context, { run, repository, user: actingUserOf(grant), jobs: 'all' })
    const [object] = await runObjects(context, grant, [await runOfId(context, { grant, params })])
    return jsonReply(201, object)
  },
})

const failed = defineOperation({
  id: 'rerunFailedWorkflowRun',
  path: `${PATH}/rerun-failed-jobs`,
  summary: 'Reruns all failed jobs in a workflow run',
  ...WRITING,
  params: PARAMS,
  success: { status: 201, schema: null },
  async handle(context, { grant, params }) {
    const run = await runOfId(context, { grant, params })
    const { repository } = grant
    await rerunRun(context, { run, repository, user: actingUserOf(grant), jobs: 'failed' })
    return { status: 201 }
  },
})

const one = defineOperation({
  id: 'rerunWorkflowJob',
  path: `${PATH}/jobs/{job_id}/rerun`,
  summary: 'Reruns a specific workflow job in a run',
  ...WRITING,
  params: { ...PARAMS, job_id: 'id of the job' },
  success: { status: 201, schema: JOB },
  async handle(context, { grant, params }) {
    const run = await runOfId(context, { grant, params })
    const { run: own, job } = await jobOfId(context, { grant, params })
    if (own.id !== run.id) throw notFound()
    const { repository } = grant
    await rerunRun(context, { run, repository, user: actingUserOf(grant), jobs: job })
    const jobs = await listJobs(context.db, run.id)
    // A job of a called workflow, or of a deferred matrix, is repeated with the whole of it.
    const repeated = jobs.filter(({ key, position, parentId }) =>
      job.parentId === undefined
        ? position === job.position
        : parentId === undefined && key === originKeyOf(job.key),
    )
    const [object] = await jobObjects(context, { run, repository }, repeated)
    return jsonReply(201, object)
  },
})

export const RERUN_OPERATIONS: readonly AnyOperation[] = [all, failed, one]
