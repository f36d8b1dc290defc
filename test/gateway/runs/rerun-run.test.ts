/** Re-runs: which jobs are repeated, what the others pass on, and late words of runners. */

import t from 'tap'
import { Result, type Task } from '../../../gateway/runner-protocol/messages.js'
import { listCommitStatuses } from '../../../sql/code/commit-statuses.js'
import { updateRepository } from '../../../sql/repositories/repositories.js'
import { listJobs } from '../../../sql/runs/run-jobs.js'
import { refusal, startGatewayWithUsers } from '../../helpers/gateway-with-users.js'
import { withToken } from '../../helpers/requests.js'
import { registerClient } from '../../helpers/runner-client.js'
import { type SharedGateway, sharedGateways } from '../../helpers/shared-gateways.js'
import { addWorkflowRepository } from '../../helpers/workflow-repository.js'

const STEPS = `steps: [{ run: 'true' }]`

const gateways = sharedGateways(t)

async function start(gateway: SharedGateway) {
  const engine = await addWorkflowRepository(gateway)
  const { as, db, port } = gateway
  const scope = { repositoryId: engine.repository.id }
  const runner = await registerClient({ port, db, scope })
  const path = async (rest: string) =>
    `/repos/ada/engine/actions/runs/${(await engine.run(1)).id}${rest}`
  /** Executes the next job. */
  const execute = async (result: Result, outputs: Readonly<Record<string, string>> = {}) => {
    const task = await runner.fetchTask()
    await runner.sendRows(task.id, 0, [`task ${task.id}`], true)
    await runner.report(task.id, result, outputs)
    return task
  }
  /** Asks for a re-run as ada. */
  const rerun = async (rest: string) => await as('ada', 'POST', await path(rest))
  const rerunJob = async (name: string) => {
    const job = (await engine.jobs(1)).find((candidate) => candidate.name === name)
    return await rerun(`/jobs/${job?.id}/rerun`)
  }
  /** Returns the statuses of the jobs of an attempt, by their names. */
  const statuses = async (attempt?: number) => {
    const jobs = await listJobs(db, (await engine.run(1)).id, attempt)
    return Object.fromEntries(jobs.map(({ name, status }) => [name, status]))
  }
  return { ...gateway, engine, runner, path, execute, rerun, rerunJob, statuses }
}

/** Returns the context of a task as an object. */
const contextOf = ({ context }: Task) => context as Readonly<Record<string, unknown>>

const CHAIN = `
name: CI
on: push
jobs:
  build: { runs-on: linux, outputs: { id: x }, ${STEPS} }
  other: { runs-on: linux, ${STEPS} }
  deploy: { needs: build, runs-on: linux, ${STEPS} }
`

await gateways.onOneDatabase('all jobs are repeated, with their statuses', async (t, gateway) => {
  const { as, bob, db, engine, execute, statuses, path } = await start(gateway)
  const commitId = await engine.commit(CHAIN)
  const first = await execute(Result.SUCCESS, { id: '1' })
  await execute(Result.SUCCESS)
  await execute(Result.SUCCESS)
  const { startedAtMs } = await engine.endedRun(1)
  await as('ada', 'PUT', '/repos/ada/engine/collaborators/bob', { permission: 'write' })
  const again = await as('bob', 'POST', await path('/rerun'))
  t.match(again, {
    status: 201,
    json: {
      run_attempt: 2,
      run_number: 1,
      status: 'queued',
      conclusion: undefined,
      actor: { login: 'ada' },
      trigger_actor: { login: 'bob' },
    },
  })
  t.match(await engine.run(1), { attempt: 2, rerunActorId: bob.id, startedAtMs: undefined })
  t.match(await statuses(), { build: 'waiting', other: 'waiting', deploy: 'blocked' })
  t.match(await statuses(1), { build: 'success', other: 'success', deploy: 'success' })
  const stateOf = async (name: string) => {
    const page = { page: 1, limit: 50 }
    const query = { repositoryId: engine.repository.id, commitId, state: undefined } as const
    const { entries } = await listCommitStatuses(db, { ...query, order: 'newest', page })
    return entries.find(({ context }) => context === `CI / ${name} (push)`)?.state
  }
  t.equal(await stateOf('deploy'), 'pending')
  const second = await execute(Result.SUCCESS, { id: '2' })
  t.match(contextOf(second), {
    job: 'build',
    run_attempt: '2',
    run_id: contextOf(first)['run_id'],
    run_number: '1',
    sha: commitId,
    actor: 'ada',
    triggering_actor: 'bob',
    event: { after: commitId },
  })
  t.match(contextOf(first), { run_attempt: '1', triggering_actor: 'ada' })
  t.equal(
    Buffer.from(second.workflowPayload ?? []).toString(),
    Buffer.from(first.workflowPayload ?? []).toString(),
  )
  await execute(Result.SUCCESS)
  const deploy = await execute(Result.FAILURE)
  t.strictSame({ ...deploy.needs['build']?.outputs }, { id: '2' })
  const ended = await engine.endedRun(1)
  t.equal(ended.status, 'failure')
  t.ok((ended.startedAtMs ?? 0) > (startedAtMs ?? 0), 'the duration is that of the attempt')
  t.equal(await stateOf('deploy'), 'failure')
  t.equal(await stateOf('other'), 'success')
})

await gateways.onOneDatabase(
  'failed and cancelled jobs are repeated, and those that need them',
  async (t, gateway) => {
    const { engine, execute, rerun, statuses } = await start(gateway)
    await engine.commit(`
on: push
jobs:
  first: { runs-on: linux, ${STEPS} }
  test:
    needs: first
    runs-on: linux
    strategy: { matrix: { n: [1, 2] }, fail-fast: false }
    ${STEPS}
  report: { needs: [first, test], runs-on: linux, ${STEPS} }
  always: { needs: test, if: always(), runs-on: linux, ${STEPS} }
`)
    const first = await execute(Result.SUCCESS, { id: 'kept' })
    const good = await execute(Result.SUCCESS, { one: '1' })
    await execute(Result.FAILURE, { two: 'wrong' })
    await execute(Result.SUCCESS)
    t.match(await engine.endedRun(1), { status: 'failure' })
    t.equal((await rerun('/rerun-failed-jobs')).status, 201)
    t.strictSame(await statuses(), {
      first: 'success',
      'test (1)': 'success',
      'test (2)': 'waiting',
      report: 'blocked',
      always: 'blocked',
    })
    t.strictSame(await statuses(1), {
      first: 'success',
      'test (1)': 'success',
      'test (2)': 'failure',
      report: 'skipped',
      always: 'success',
    })
    await execute(Result.SUCCESS, { two: '2' })
    const tasks = [await execute(Result.SUCCESS), await execute(Result.SUCCESS)]
    const report = tasks.find((task) => contextOf(task)['job'] === 'report')
    t.strictSame({ ...report?.needs['first']?.outputs }, { id: 'kept' })
    t.strictSame({ ...report?.needs['test']?.outputs }, { one: '1', two: '2' })
    t.equal(report?.needs['test']?.result, Result.SUCCESS)
    t.match(await engine.endedRun(1), { status: 'success', attempt: 2 })
    t.match(await rerun('/rerun-failed-jobs'), {
      status: 400,
      json: refusal('No job of the run has failed.'),
    })
    const tasksOf = (await engine.jobs(1)).map(({ taskId }) => taskId)
    t.match(tasksOf.slice(0, 2), [Number(first.id), Number(good.id)], 'kept jobs keep their tasks')
  },
)

await gateways.onOneDatabase(
  'one job is repeated, and those that need it; both logs are kept',
  async (t, gateway) => {
    const { as, engine, execute, path, rerunJob, statuses } = await start(gateway)
    await engine.commit(CHAIN)
    const first = await execute(Result.SUCCESS)
    await execute(Result.FAILURE)
    await execute(Result.SUCCESS)
    await engine.endedRun(1)
    const answer = await rerunJob('build')
    t.match(answer, {
      status: 201,
      json: { name: 'build', run_attempt: 2, status: 'queued', html_url: /\/runs\/1\/jobs\/0$/ },
    })
    t.strictSame(await statuses(), { build: 'waiting', other: 'failure', deploy: 'blocked' })
    const repeated = await execute(Result.SUCCESS)
    await execute(Result.SUCCESS)
    t.match(await engine.endedRun(1), { status: 'failure' }, 'the other job stays failed')
    const jobsOf = async (rest: string) => {
      const { json } = await as('anyone', 'GET', await path(rest))
      return (json as { jobs: { id: number; name: string; html_url: string }[] }).jobs
    }
    const [old, new_] = [await jobsOf('/attempts/1/jobs'), await jobsOf('/jobs')]
    t.strictSame(await jobsOf('/attempts/2/jobs'), new_)
    t.equal(old[1]?.id, new_[1]?.id, 'a kept job belongs to both attempts')
    t.not(old[0]?.id, new_[0]?.id)
    t.match(old[0]?.html_url, /\/runs\/1\/jobs\/0\?attempt=1$/)
    const logOf = async (id = 0) =>
      (await as('anyone', 'GET', `/repos/ada/engine/actions/jobs/${id}/logs`)).text
    t.ok((await logOf(old[0]?.id)).endsWith(` task ${first.id}\n`))
    t.ok((await logOf(new_[0]?.id)).endsWith(` task ${repeated.id}\n`))
    for (const attempt of ['0', '3', 'x']) {
      t.equal((await as('anyone', 'GET', await path(`/attempts/${attempt}/jobs`))).status, 404)
    }
    t.match(await as('ada', 'POST', await path(`/jobs/${old[0]?.id}/rerun`)), {
      status: 400,
      json: refusal('A newer attempt has replaced the job.'),
    })
  },
)

await gateways.onOneDatabase(
  'the runner of a cancelled job changes nothing in the next attempt',
  async (t, gateway) => {
    const { as, engine, path, rerun, runner, statuses } = await start(gateway)
    await engine.commit(`
on: push
jobs:
  build: { runs-on: linux, ${STEPS} }
`)
    const late = await runner.fetchTask()
    await as('ada', 'POST', await path('/cancel'))
    t.match(await rerun('/rerun'), {
      status: 400,
      json: refusal("The job 'build' has not ended."),
    })
    await runner.report(late.id, Result.FAILURE, { from: 'first' })
    t.match(await engine.endedRun(1), { status: 'cancelled' })
    t.equal((await rerun('/rerun-failed-jobs')).status, 201)
    t.equal(await runner.report(late.id, Result.SUCCESS, { from: 'late' }), Result.CANCELLED)
    t.strictSame(await statuses(), { build: 'waiting' })
    const second = await runner.fetchTask()
    t.equal(await runner.report(late.id, Result.SUCCESS, { from: 'late' }), Result.CANCELLED)
    t.strictSame(await statuses(), { build: 'running' })
    t.strictSame(await statuses(1), { build: 'cancelled' })
    t.equal(await runner.report(second.id, Result.UNSPECIFIED), Result.UNSPECIFIED)
    await runner.report(second.id, Result.SUCCESS)
    t.match(await engine.endedRun(1), { status: 'success' })
    t.strictSame(await statuses(1), { build: 'cancelled' })
  },
)

await gateways.onOneDatabase('a job is repeated while others run', async (t, gateway) => {
  const { engine, execute, rerunJob, runner, statuses } = await start(gateway)
  await engine.commit(`
on: push
jobs:
  flaky: { runs-on: linux, ${STEPS} }
  long: { runs-on: linux, ${STEPS} }
  after: { needs: [flaky, long], runs-on: linux, ${STEPS} }
  next: { needs: flaky, if: always(), runs-on: linux, ${STEPS} }
`)
  const flaky = await runner.fetchTask()
  const long = await runner.fetchTask()
  await runner.report(flaky.id, Result.FAILURE)
  t.match(await rerunJob('long'), { status: 400, json: refusal("The job 'long' has not ended.") })
  t.match(await rerunJob('flaky'), { status: 400, json: refusal("The job 'next' has not ended.") })
  await execute(Result.SUCCESS)
  t.equal((await rerunJob('flaky')).status, 201)
  t.strictSame(await statuses(), {
    flaky: 'waiting',
    long: 'running',
    after: 'blocked',
    next: 'blocked',
  })
  await runner.report(long.id, Result.SUCCESS)
  t.match(await engine.run(1), { status: 'running', attempt: 2 })
  await execute(Result.SUCCESS)
  await execute(Result.SUCCESS)
  await execute(Result.SUCCESS)
  t.match(await engine.endedRun(1), { status: 'success' })
  t.match(await statuses(1), { flaky: 'failure', long: 'success', next: 'success' })
})

await gateways.onOneDatabase(
  'a combination of a matrix is repeated although others have failed',
  async (t, gateway) => {
    const { engine, execute, rerunJob, runner, statuses } = await start(gateway)
    await engine.commit(`
on: push
jobs:
  test:
    runs-on: linux
    strategy: { max-parallel: 2, matrix: { n: [1, 2, 3] } }
    ${STEPS}
`)
    const first = await runner.fetchTask()
    const second = await runner.fetchTask()
    await runner.report(first.id, Result.FAILURE)
    await runner.report(second.id, Result.CANCELLED)
    await engine.endedRun(1)
    t.equal((await rerunJob('test (3)')).status, 201)
    t.match(await statuses(), { 'test (1)': 'failure', 'test (3)': 'waiting' })
    await execute(Result.SUCCESS)
    t.match(await engine.endedRun(1), { status: 'failure' })
    t.match(await statuses(), { 'test (1)': 'failure', 'test (3)': 'success' })
    t.equal((await rerunJob('test (1)')).status, 201)
    t.equal((await rerunJob('test (2)')).status, 201)
    t.match(await engine.run(1), { attempt: 4 })
    await execute(Result.FAILURE)
    t.match(await statuses(), { 'test (1)': 'failure', 'test (2)': 'waiting' })
  },
)

await gateways.onSqlite('re-runs are refused with a reason', async (t, gateway) => {
  const { as, db, engine, execute, path, rerun } = await start(gateway)
  await engine.commit(CHAIN)
  for (let ended = 0; ended < 3; ended += 1) await execute(Result.SUCCESS)
  const { id } = await engine.endedRun(1)
  const [job] = await engine.jobs(1)
  const refused = async (reason: string) =>
    t.match(await rerun('/rerun'), { status: 400, json: refusal(reason) }, reason)
  const change = async (columns: object) => await db('workflow_runs').where({ id }).update(columns)
  await change({ needs_approval: true })
  await refused('The run was not approved.')
  await change({ needs_approval: false, fault: 'line 1' })
  await refused('The workflow file is faulty, so the run has no jobs.')
  await change({ fault: '', attempt: 50 })
  await refused('The run has had 50 attempts.')
  await change({ attempt: 49, created_at: Date.now() - 31 * 86_400_000 })
  await refused('The run is older than 30 days.')
  await change({ created_at: Date.now() - 29 * 86_400_000 })
  await as('ada', 'PUT', '/repos/ada/engine/actions/workflows/ci.yaml/disable')
  await refused('The workflow ci.yaml is disabled.')
  await as('ada', 'PUT', '/repos/ada/engine/actions/workflows/ci.yaml/enable')
  t.equal((await as('bob', 'POST', await path('/rerun'))).status, 403)
  t.equal((await as('anyone', 'POST', await path('/rerun-failed-jobs'))).status, 401)
  await as('ada', 'POST', '/user/repos', { name: 'other' })
  await updateRepository(db, engine.repository.id + 1, { preferences: { has_actions: true } })
  const elsewhere = `/repos/ada/other/actions/runs/${id}`
  const rests = ['/rerun', '/rerun-failed-jobs', `/jobs/${job?.id}/rerun`, '/attempts/1/jobs']
  for (const rest of rests) {
    const method = rest.startsWith('/attempts') ? 'GET' : 'POST'
    t.equal((await as('ada', method, elsewhere + rest)).status, 404, rest)
  }
  await change({ attempt: 1, is_from_fork: true })
  t.equal((await rerun('/rerun')).status, 201)
  await refused("The job 'build' has not ended.")
  const task = await execute(Result.SUCCESS)
  t.equal(contextOf(task)['secret_source'], 'None', 'the run of a fork stays one')
})

t.test('a job cannot re-run jobs, and no run is repeated while too many wait', async (t) => {
  const gateway = await startGatewayWithUsers(t, {
    environment: { GATEHOUSE_ACTIONS_RUNS_WAITING_MAX: '1' },
  })
  const { as, ask, db, port } = gateway
  const engine = await addWorkflowRepository(gateway)
  const runner = await registerClient({ port, db })
  await engine.commit(`
on: push
permissions: write-all
jobs:
  build: { runs-on: linux, ${STEPS} }
`)
  const task = await runner.fetchTask()
  await runner.report(task.id, Result.FAILURE)
  const { id } = await engine.endedRun(1)
  await engine.commit('on: push\njobs: { a: { runs-on: other, steps: [{ run: x }] } }\n')
  await engine.run(2)
  const path = `/repos/ada/engine/actions/runs/${id}/rerun`
  t.match(await as('ada', 'POST', path), {
    status: 400,
    json: refusal('Too many runs of this repository wait for runners.'),
  })
  await db('workflow_runs').where({ number: 2 }).update({ status: 'cancelled' })
  t.equal((await as('ada', 'POST', path)).status, 201)
  const { secrets } = await runner.fetchTask()
  const authorization = withToken(secrets['GITHUB_TOKEN'] ?? '')
  const byJob = await ask({ method: 'POST', path: `/api/v1${path}`, authorization })
  t.match(byJob, { status: 403, text: /A job cannot re-run jobs/ })
})
