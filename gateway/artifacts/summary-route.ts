/** Summaries of steps from runners of Gitea. */

import { Failure, notFound } from '../../conf/failures.js'
import { findTask } from '../../sql/runs/tasks.js'
import { readBody } from '../http/incoming-body.js'
import type { Route } from '../request/route.js'
import { SUMMARY_BYTES_MAX, storeStepSummary } from '../runs/step-summaries.js'
import { jsonReply, PIPELINES, refuseOtherRun, TASK_SURFACE } from './artifact-surface.js'

/** Stores the summary of a step of the token's job. The body is Markdown. */
export const SUMMARY_ROUTE: Route<'task'> = {
  surface: TASK_SURFACE,
  method: 'PUT',
  path: `${PIPELINES}/{run}/jobs/{job}/steps/{step}/summary`,
  access: { kind: 'task' },
  scopes: [],
  async handle(context, { request, params, grant }) {
    const { run = '', job, step = '' } = params
    const { taskId, jobId } = grant.task
    refuseOtherRun(grant.task, run)
    if (job !== String(jobId)) {
      throw new Failure('forbidden', 'The runtime token is of another job.')
    }
    const task = await findTask(context.db, taskId)
    if (task === undefined || !/^\d{1,4}$/.test(step)) throw notFound()
    const declared = Number(request.headers.get('content-length') ?? 0)
    const body = await readBody(request.body, SUMMARY_BYTES_MAX, declared)
    await storeStepSummary(context, task, { step: Number(step), content: body.toString() })
    return jsonReply(200, {})
  },
}
