/** Successful requests, one for each operation on workflow runs and runners. */

import { placeFile } from '../../../sql/runs/artifact-parts.js'
import { completeArtifact } from '../../../sql/runs/artifacts.js'
import { changeJob } from '../../../sql/runs/run-jobs.js'
import { updateRunStatus } from '../../../sql/runs/runs.js'
import { findRunningTask, updateTask } from '../../../sql/runs/tasks.js'
import { anArtifact } from '../artifact-rows.js'
import type { GatewayWithUsers } from '../gateway-with-users.js'
import { aBlobOf } from '../release-rows.js'
import type { Answer } from '../requests.js'
import { aJob, aRun, aRunner, aTask, jobAt, logRows } from '../run-rows.js'

const WORKFLOW = `
name: CI
on: workflow_dispatch
jobs: { build: { runs-on: linux, steps: [{ run: 'true' }] } }
`

/** Sends the requests for a new repository of ada, in which workflows run. */
export async function successesOfRuns(gateway: GatewayWithUsers) {
  const { as, ada, db } = gateway
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
    listWorkflowJobs: await as('ada', 'GET', `${path}/jobs`),
    getOrgWorkflowRuns: await as('ada', 'GET', '/orgs/club/actions/runs'),
    getOrgWorkflowJobs: await as('ada', 'GET', '/orgs/club/actions/jobs'),
    getUserWorkflowRuns: await as('ada', 'GET', '/user/actions/runs'),
    getUserWorkflowJobs: await as('ada', 'GET', '/user/actions/jobs'),
    listAdminWorkflowRuns: await as('root', 'GET', '/admin/actions/runs'),
    listAdminWorkflowJobs: await as('root', 'GET', '/admin/actions/jobs'),
    ListActionTasks: await as('ada', 'GET', `${path}/tasks`),
  }
  const task = await findRunningTask(db, taskId)
  if (task === undefined) throw new Error('The task has ended.')
  const artifact = await anArtifact(db, task)
  await placeFile(db, { artifact, path: '', isGzip: false }, aBlobOf('zip'))
  await completeArtifact(db, artifact)
  const stored = `${path}/artifacts/${artifact.id}`
  const artifacts = {
    getArtifacts: await as('ada', 'GET', `${path}/artifacts`),
    getArtifactsOfRun: await as('ada', 'GET', `${one}/artifacts`),
    getArtifact: await as('ada', 'GET', stored),
    downloadArtifact: await as('ada', 'GET', `${stored}/zip`),
    deleteArtifact: await as('ada', 'DELETE', stored),
  }
  await as('ada', 'POST', '/repos/ada/run/contents/.gitea/workflows/ci.yaml', {
    content: Buffer.from(WORKFLOW).toString('base64'),
  })
  const workflow = `${path}/workflows/ci.yaml`
  const workflows = {
    ActionsListRepositoryWorkflows: await as('ada', 'GET', `${path}/workflows`),
    ActionsGetWorkflow: await as('ada', 'GET', workflow),
    ActionsDisableWorkflow: await as('ada', 'PUT', `${workflow}/disable`),
    ActionsEnableWorkflow: await as('ada', 'PUT', `${workflow}/enable`),
    ActionsDispatchWorkflow: await as('ada', 'POST', `${workflow}/dispatches`, { ref: 'main' }),
  }
  await db('workflow_runs').where({ id: run.id }).update({ needs_approval: true })
  const approveWorkflowRun = await as('ada', 'POST', `${one}/approve`)
  const cancelWorkflowRun = await as('ada', 'POST', `${one}/cancel`)
  await changeJob(db, job.id, { from: ['cancelling'], to: 'cancelled' })
  await updateRunStatus(db, run, 'cancelled')
  const reruns = {
    rerunWorkflowRun: await as('ada', 'POST', `${one}/rerun`),
    listWorkflowRunAttemptJobs: await as('ada', 'GET', `${one}/attempts/1/jobs`),
  }
  const end = async () => {
    await as('ada', 'POST', `${one}/cancel`)
    return await jobAt(db, run, 0)
  }
  await end()
  const rerunFailedWorkflowRun = await as('ada', 'POST', `${one}/rerun-failed-jobs`)
  const { id } = await end()
  const rerunWorkflowJob = await as('ada', 'POST', `${one}/jobs/${id}/rerun`)
  await end()
  const deleteActionRun = await as('ada', 'DELETE', one)
  return {
    ...read,
    ...artifacts,
    ...workflows,
    approveWorkflowRun,
    cancelWorkflowRun,
    ...reruns,
    rerunFailedWorkflowRun,
    rerunWorkflowJob,
    deleteActionRun,
    ...(await ofRunners(gateway, repositoryId)),
  }
}

/** Sends the requests for a runner of each scope. */
async function ofRunners(
  { as, ada, db, addOrganization }: GatewayWithUsers,
  repositoryId: number,
): Promise<Readonly<Record<string, Answer>>> {
  const { id: organizationId } = await addOrganization('running', ada)
  const scopes = {
    Repo: ['ada', '/repos/ada/run', { repositoryId }],
    Org: ['ada', '/orgs/running', { ownerId: organizationId }],
    User: ['ada', '/user', { ownerId: ada.id }],
    Admin: ['root', '/admin', {}],
  } as const
  const answers: Record<string, Answer> = {}
  for (const [word, [name, place, scope]] of Object.entries(scopes)) {
    const id = await aRunner(db, ['linux'], scope)
    const all = `${place}/actions/runners`
    const old = word === 'Admin' ? '/admin/runners' : all
    const prefix = word.toLowerCase()
    answers[`get${word}Runners`] = await as(name, 'GET', all)
    answers[`get${word}Runner`] = await as(name, 'GET', `${all}/${id}`)
    answers[`update${word}Runner`] = await as(name, 'PATCH', `${all}/${id}`, { disabled: true })
    answers[`delete${word}Runner`] = await as(name, 'DELETE', `${all}/${id}`)
    const token = `${prefix}CreateRunnerRegistrationToken`
    answers[token] = await as(name, 'POST', `${all}/registration-token`)
    const get = `${prefix}GetRunnerRegistrationToken`
    answers[get] = await as(name, 'GET', `${old}/registration-token`)
  }
  return answers
}
