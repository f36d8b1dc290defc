/** Successful requests, one for each operation on workflow runs and runners. */

import { changeJob } from '../../../sql/runs/run-jobs.js'
import { updateRunStatus } from '../../../sql/runs/runs.js'
import { updateTask } from '../../../sql/runs/tasks.js'
import type { GatewayWithUsers } from '../gateway-with-users.js'
import { aJob, aRun, aTask, jobAt, logRows } from '../run-rows.js'

/** Sends the requests for a new repository of ada, in which workflows run. */
export async function successesOfRuns({ as, ada, db }: GatewayWithUsers) {
  const made = await as('ada', 'POST', '/user/repos', { name: 'run', auto_init: true })
  await as('ada', 'PATCH', '/repos/ada/run', { has_actions: true })
  const repositoryId = (made.json as { id: number }).id
  const jobs = [aJob('build', { stepNames: ['Test'] })]
  const run = await aRun(db, repositoryId, { jobs, actorId: ada.id })
  const job = await jobAt(db, run, 0)
  const rows = logRows('one', 'two')
  const taskId = await aTask(db, job, { repositoryId, status: 'running', rows })
  const times = { startedAtMs: 1_000, stoppedAtMs: 2_000 }
  await updateTask(db, taskId, {
    steps: [{ ...times, result: 'success', firstRow: 0, rowCount: 2 }],
  })
  const path = '/repos/ada/run/actions'
  const one = `${path}/runs/${run.id}`
  const read = {
    getWorkflowRuns: await as('ada', 'GET', `${path}/runs`),
    GetWorkflowRun: await as('ada', 'GET', one),
    listWorkflowRunJobs: await as('ada', 'GET', `${one}/jobs`),
    getWorkflowJob: await as('ada', 'GET', `${path}/jobs/${job.id}`),
    downloadActionsRunJobLogs: await as('ada', 'GET', `${path}/jobs/${job.id}/logs`),
    ListActionTasks: await as('ada', 'GET', `${path}/tasks`),
  }
  const cancelWorkflowRun = await as('ada', 'POST', `${one}/cancel`)
  await changeJob(db, job.id, { from: ['cancelling'], to: 'cancelled' })
  await updateRunStatus(db, run, 'cancelled')
  return { ...read, cancelWorkflowRun, deleteActionRun: await as('ada', 'DELETE', one) }
}
