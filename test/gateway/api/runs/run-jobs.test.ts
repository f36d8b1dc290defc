/** Jobs of workflow runs over the API: steps, runner, log, and the list of tasks. */

import t, { type Test } from 'tap'
import { listRunners, removeRunner } from '../../../../sql/runners/runners.js'
import { changeJob } from '../../../../sql/runs/run-jobs.js'
import { updateTask } from '../../../../sql/runs/tasks.js'
import { startGatewayWithUsers } from '../../../helpers/gateway-with-users.js'
import { aJob, aRun, aTask, jobAt, logRows } from '../../../helpers/run-rows.js'

const ACTIONS = '/repos/ada/r/actions'

/** Starts a gateway with ada's repository `r`, which has Actions. */
async function openFixture(t: Test) {
  const gateway = await startGatewayWithUsers(t)
  const made = await gateway.as('ada', 'POST', '/user/repos', { name: 'r' })
  await gateway.as('ada', 'PATCH', '/repos/ada/r', { has_actions: true })
  const repositoryId = (made.json as { id: number }).id
  const read = async (path: string) => (await gateway.as('anyone', 'GET', ACTIONS + path)).json
  return { ...gateway, repositoryId, read }
}

t.test('a job has its run, labels, runner and the states of its steps', async (t) => {
  const { db, repositoryId, read } = await openFixture(t)
  const stepNames = ['Set up', 'Test', 'Publish', 'Clean']
  const jobs = [aJob('a'), aJob('b', { stepNames, labels: ['linux', 'arm'] })]
  const run = await aRun(db, repositoryId, { jobs, reference: 'refs/tags/v1' })
  const job = await jobAt(db, run, 1)
  t.match(await read(`/jobs/${job.id}`), {
    status: 'waiting',
    runner_id: undefined,
    steps: stepNames.map((name) => ({ name, status: 'queued' })),
  })
  const taskId = await aTask(db, job, { repositoryId, status: 'running', rows: [] })
  const rows = { firstRow: 0, rowCount: 0 }
  const steps = [
    { ...rows, result: 'success', startedAtMs: 1_000, stoppedAtMs: 3_000 },
    // The clock of a runner may have any time.
    { ...rows, result: 'failure', startedAtMs: -1, stoppedAtMs: 1e20 },
    { ...rows, result: undefined, startedAtMs: 5_000, stoppedAtMs: undefined },
  ] as const
  await updateTask(db, taskId, { steps })
  const [runner] = await listRunners(db)
  const object = await read(`/jobs/${job.id}`)
  const never = '1970-01-01T00:00:00Z'
  t.match(object, {
    id: job.id,
    run_id: run.id,
    name: 'Job b',
    labels: ['linux', 'arm'],
    head_branch: 'v1',
    status: 'in_progress',
    runner_id: runner?.id,
    runner_name: 'runner',
    html_url: /\/ada\/r\/actions\/runs\/1\/jobs\/1$/,
    steps: [
      {
        name: 'Set up',
        number: 1,
        status: 'completed',
        conclusion: 'success',
        started_at: '1970-01-01T00:00:01Z',
        completed_at: '1970-01-01T00:00:03Z',
      },
      { conclusion: 'failure', started_at: never, completed_at: never },
      { status: 'in_progress', conclusion: undefined, completed_at: never },
      { name: 'Clean', number: 4, status: 'queued', started_at: never },
    ],
  })
  const listed = (await read(`/runs/${run.id}/jobs?limit=1&page=2`)) as object
  t.match(listed, { total_count: 2, jobs: [{ id: job.id }] })
  await removeRunner(db, runner?.uuid ?? '')
  const orphan = (await read(`/jobs/${job.id}`)) as object
  t.notOk('runner_id' in orphan)
})

t.test('the log of a job is a text file with the time of each line', async (t) => {
  const { as, db, repositoryId } = await openFixture(t)
  const run = await aRun(db, repositoryId)
  const job = await jobAt(db, run, 0)
  const get = () => as('anyone', 'GET', `${ACTIONS}/jobs/${job.id}/logs`)
  t.equal((await get()).status, 404, 'no runner has claimed the job')
  const lines = Array.from({ length: 1_200 }, (_, at) => `line ${at}`)
  await aTask(db, job, { repositoryId, status: 'success', rows: logRows(...lines) })
  const { status, headers, text } = await get()
  t.equal(status, 200)
  t.equal(headers['content-type'], 'text/plain; charset=utf-8')
  t.equal(headers['content-disposition'], 'attachment; filename="run-1-job-0.log"')
  t.equal(headers['x-content-type-options'], 'nosniff')
  t.equal(text, lines.map((line) => `2026-01-02T03:04:05.000Z ${line}\n`).join(''))
})

t.test('tasks are listed newest first with the status of their jobs', async (t) => {
  const { db, repositoryId, read } = await openFixture(t)
  const jobs = [aJob('a'), aJob('b')]
  const run = await aRun(db, repositoryId, { jobs })
  const first = await jobAt(db, run, 0)
  const lost = await aTask(db, first, { repositoryId, status: 'running', rows: [] })
  await updateTask(db, lost, { stoppedAtMs: Date.now() })
  await changeJob(db, first.id, { from: ['running'], to: 'waiting' })
  const again = { ...first, status: 'waiting' } as const
  const second = await aTask(db, again, { repositoryId, status: 'cancelling', rows: [] })
  const other = await jobAt(db, run, 1)
  const third = await aTask(db, other, { repositoryId, status: 'success', rows: [] })
  t.match(await read('/tasks'), {
    total_count: 3,
    workflow_runs: [
      { id: third, name: 'Job b', status: 'success', run_number: 1, workflow_id: 'build.yaml' },
      { id: second, name: 'Job a', status: 'running', head_branch: 'main', event: 'push' },
      { id: lost, status: 'failure', display_title: 'Fix the build', url: /\/runs\/1$/ },
    ],
  })
  t.match(await read('/tasks?limit=1&page=3'), { total_count: 3, workflow_runs: [{ id: lost }] })
})
