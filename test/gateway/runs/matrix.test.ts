/** Jobs of a matrix, from the push to the status of the run, on both databases. */

import t from 'tap'
import { Result, type Task } from '../../../gateway/runner-protocol/messages.js'
import { endTask } from '../../../gateway/runs/end-task.js'
import { parseYaml } from '../../../gateway/workflows/yaml-value.js'
import { type RegisteredRunner, registerClient } from '../../helpers/runner-client.js'
import { type SharedGateway, sharedGateways } from '../../helpers/shared-gateways.js'
import {
  addWorkflowRepository,
  type WorkflowRepository,
} from '../../helpers/workflow-repository.js'

const gateways = sharedGateways(t)

async function start(gateway: SharedGateway) {
  const engine = await addWorkflowRepository(gateway)
  const runner = await registerClient({ port: gateway.port, db: gateway.db })
  return { ...gateway, engine, runner }
}

/** Returns the statuses of the jobs of the first run by their names. */
async function statusesOf(engine: WorkflowRepository): Promise<Readonly<Record<string, string>>> {
  return Object.fromEntries((await engine.jobs(1)).map(({ name, status }) => [name, status]))
}

function payloadOf({ workflowPayload }: Task): unknown {
  return parseYaml(Buffer.from(workflowPayload ?? []).toString()).plain()
}

async function fetchTasks(runner: RegisteredRunner, count: number): Promise<readonly Task[]> {
  const tasks: Task[] = []
  while (tasks.length < count) tasks.push(await runner.fetchTask())
  return tasks
}

const STEPS = `steps: [{ run: 'true' }]`

await gateways.onOneDatabase(
  'each combination is a job, and its matrix one need',
  async (t, gateway) => {
    const { as, ask, engine, runner } = await start(gateway)
    const sha = await engine.commit(`
name: CI
on: push
jobs:
  test:
    name: Test \${{ matrix.version }} on \${{ github.ref_name }}
    runs-on: \${{ matrix.os }}
    strategy:
      max-parallel: 5
      matrix:
        version: [1, 2]
        include: [{ os: linux }]
    ${STEPS}
  report:
    needs: test
    if: needs.test.result == 'success' && needs.test.outputs.last == '2'
    runs-on: linux
    ${STEPS}
`)
    const [first, second] = await fetchTasks(runner, 2)
    if (first === undefined || second === undefined) throw new Error('There are no tasks.')
    t.match(payloadOf(first), {
      jobs: {
        test: {
          name: 'Test 1 on main',
          'runs-on': ['linux'],
          strategy: {
            matrix: { version: [1], os: ['linux'] },
            'fail-fast': true,
            'max-parallel': 5,
          },
        },
      },
    })
    t.match(first.context, { job: 'test' })
    const { json } = await as('anyone', 'GET', `/repos/ada/engine/commits/${sha}/status`)
    const contexts = (json as { statuses: { context: string }[] }).statuses.map(
      (one) => one.context,
    )
    t.strictSame(contexts.toSorted(), [
      'CI / Test 1 on main (push)',
      'CI / Test 2 on main (push)',
      'CI / report (push)',
    ])
    await runner.report(first.id, Result.SUCCESS, { last: '1', first: 'x', empty: 'x' })
    t.match(await engine.statuses(1), { report: 'blocked' })
    await runner.report(second.id, Result.SUCCESS, { last: '2', empty: '' })
    const report = await runner.fetchTask()
    t.strictSame({ ...report.needs['test']?.outputs }, { last: '2', first: 'x', empty: 'x' })
    t.equal(report.needs['test']?.result, Result.SUCCESS)
    await runner.report(report.id, Result.SUCCESS)
    t.match(await engine.endedRun(1), { status: 'success' })
    const { text } = await ask({ path: '/ada/engine/actions/runs/1' })
    t.match(text, /Stage 1.*>Test 1 on main<.*>Test 2 on main<.*Stage 2.*>report</s)
  },
)

await gateways.onOneDatabase('a failed combination cancels the others', async (t, gateway) => {
  const { engine, runner } = await start(gateway)
  await engine.commit(`
on: push
jobs:
  test:
    runs-on: linux
    strategy: { max-parallel: 3, matrix: { n: [1, 2, 3, 4] } }
    ${STEPS}
  after:
    needs: test
    if: failure()
    runs-on: linux
    ${STEPS}
`)
  const [failed, running] = await fetchTasks(runner, 2)
  if (failed === undefined || running === undefined) throw new Error('There are no tasks.')
  const before = { 'test (1)': 'running', 'test (2)': 'running', 'test (3)': 'waiting' }
  t.match(await statusesOf(engine), { ...before, 'test (4)': 'blocked' })
  await runner.report(failed.id, Result.FAILURE)
  t.match(await statusesOf(engine), {
    'test (1)': 'failure',
    'test (2)': 'cancelling',
    'test (3)': 'cancelled',
    'test (4)': 'cancelled',
    after: 'blocked',
  })
  t.equal(await runner.report(running.id, Result.UNSPECIFIED), Result.CANCELLED)
  await runner.report(running.id, Result.SUCCESS)
  const [, ...cancelled] = await engine.jobs(1)
  for (const { status, reason } of cancelled.slice(0, 3)) {
    t.match({ status, reason }, { status: 'cancelled', reason: /because 'test \(1\)' has failed/ })
  }
  const after = await runner.fetchTask()
  t.equal(after.needs['test']?.result, Result.FAILURE)
  await runner.report(after.id, Result.SUCCESS)
  t.match(await engine.endedRun(1), { status: 'failure' })
})

await gateways.onOneDatabase(
  'max-parallel jobs wait, and continue-on-error counts as success',
  async (t, gateway) => {
    const { engine, runner } = await start(gateway)
    await engine.commit(`
on: push
jobs:
  test:
    runs-on: linux
    continue-on-error: \${{ matrix.n == 1 }}
    strategy: { max-parallel: 1, matrix: { n: [1, 2] } }
    ${STEPS}
  after:
    needs: test
    runs-on: linux
    ${STEPS}
`)
    const first = await runner.fetchTask()
    t.strictSame(await statusesOf(engine), {
      'test (1)': 'running',
      'test (2)': 'blocked',
      after: 'blocked',
    })
    await runner.report(first.id, Result.FAILURE)
    t.match(await statusesOf(engine), { 'test (1)': 'failure', 'test (2)': 'waiting' })
    await runner.report((await runner.fetchTask()).id, Result.SUCCESS)
    const after = await runner.fetchTask()
    t.equal(after.needs['test']?.result, Result.SUCCESS)
    await runner.report(after.id, Result.SUCCESS)
    t.match(await engine.endedRun(1), { status: 'success' })
    t.match(await statusesOf(engine), { 'test (1)': 'failure' })
  },
)

await gateways.forEachDatabase(
  'two gateways keep max-parallel and fail-fast',
  async (t, gateway) => {
    const { engine, runner } = await start(gateway)
    const other = await gateway.openContext()
    await engine.commit(`
on: push
jobs:
  test:
    runs-on: linux
    strategy: { max-parallel: 3, matrix: { n: [1, 2, 3, 4, 5, 6, 7, 8, 9] } }
    ${STEPS}
`)
    const countOf = async (wanted: string) =>
      (await engine.jobs(1)).filter(({ status }) => status === wanted).length
    const tasks = await fetchTasks(runner, 3)
    const jobIds = (await engine.jobs(1)).map(({ id }) => id)
    const endElsewhere = (task: Task, result: 'success' | 'failure') => {
      const { id } = task
      const jobId = jobIds[tasks.indexOf(task)] ?? 0
      return endTask(other, { id: Number(id), jobId }, { result, reason: '' })
    }
    const [first, second, third] = tasks
    if (first === undefined || second === undefined || third === undefined)
      throw new Error('No task')
    await Promise.all([endElsewhere(first, 'success'), runner.report(second.id, Result.SUCCESS)])
    t.equal(await countOf('waiting'), 2)
    t.equal(await countOf('blocked'), 4)
    const [fourth] = await fetchTasks(runner, 1)
    if (fourth === undefined) throw new Error('No task')
    await Promise.all([endElsewhere(third, 'failure'), runner.report(fourth.id, Result.SUCCESS)])
    t.equal((await countOf('waiting')) + (await countOf('blocked')), 0)
    t.equal((await engine.endedRun(1)).status, 'failure')
  },
)

await gateways.onSqlite(
  'expressions read the event and variables when a run starts',
  async (t, gateway) => {
    const { as, engine, runner } = await start(gateway)
    const path = '/repos/ada/engine/actions/variables/VERSIONS'
    await as('ada', 'POST', path, { value: '["a", "${{ secrets.X }}"]' })
    await engine.commit(`
on: push
jobs:
  test:
    name: \${{ matrix.version }} \${{ github.event.head_commit.message }} \${{ inputs.x || 'y' }}
    runs-on: linux
    strategy: { matrix: { version: "\${{ fromJSON(vars.VERSIONS) }}" } }
    ${STEPS}
`)
    const [, second] = await fetchTasks(runner, 2)
    t.strictSame(Object.keys(await statusesOf(engine)), [
      'a Change ci.yaml y',
      '${{ secrets.X }} Change ci.yaml y',
    ])
    const escaped = "${{ '$' }}{{ secrets.X }}"
    t.match(second && payloadOf(second), {
      jobs: {
        test: {
          name: `${escaped} Change ci.yaml y`,
          strategy: { matrix: { version: [escaped] } },
        },
      },
    })
  },
)
