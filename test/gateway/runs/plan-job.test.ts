/** Jobs that are planned when their needs have ended, on both databases. */

import t from 'tap'
import { Result } from '../../../gateway/runner-protocol/messages.js'
import { cancelRun } from '../../../gateway/runs/cancel-run.js'
import { planJob } from '../../../gateway/runs/plan-job.js'
import { sweepRuns } from '../../../gateway/runs/sweep-runs.js'
import { parseYaml } from '../../../gateway/workflows/yaml-value.js'
import { registerClient } from '../../helpers/runner-client.js'
import { type SharedGateway, sharedGateways } from '../../helpers/shared-gateways.js'
import { addWorkflowRepository } from '../../helpers/workflow-repository.js'

const STEPS = `steps: [{ run: 'true' }]`

const WORKFLOW = `
name: CI
on: push
jobs:
  list:
    runs-on: linux
    outputs: { systems: '[]' }
    ${STEPS}
  test:
    needs: list
    runs-on: \${{ needs.list.outputs.label }}
    strategy:
      matrix: { system: "\${{ fromJSON(needs.list.outputs.systems) }}" }
    ${STEPS}
  report:
    needs: test
    if: always()
    runs-on: linux
    ${STEPS}
`

const gateways = sharedGateways(t)

async function start(gateway: SharedGateway) {
  const engine = await addWorkflowRepository(gateway)
  const runner = await registerClient({ port: gateway.port, db: gateway.db })
  const sha = await engine.commit(WORKFLOW)
  const jobs = async () => {
    const rows = await engine.jobs(1)
    return rows.map(({ key, name, status }) => `${key}: ${name}: ${status}`)
  }
  return { ...gateway, engine, runner, sha, jobs }
}

await gateways.onOneDatabase(
  'a matrix is made of the outputs of a needed job',
  async (t, gateway) => {
    const { as, engine, runner, sha, jobs } = await start(gateway)
    const list = await runner.fetchTask()
    t.strictSame(await jobs(), [
      'list: list: running',
      'test: test: blocked',
      'report: report: blocked',
    ])
    await runner.report(list.id, Result.SUCCESS, { systems: '["a","${{ b }}"]', label: 'linux' })
    const [first, second] = [await runner.fetchTask(), await runner.fetchTask()]
    t.strictSame(await jobs(), [
      'list: list: success',
      'test: test: running',
      'report: report: blocked',
      'test/test: test (a): running',
      'test/test: test (${{ b }}): running',
    ])
    t.match(first.context, { job: 'test' })
    t.strictSame(
      { ...first.needs['list']?.outputs },
      { systems: '["a","${{ b }}"]', label: 'linux' },
    )
    const payload = parseYaml(Buffer.from(second.workflowPayload ?? []).toString()).plain()
    const matrix = { system: ["${{ '$' }}{{ b }}"] }
    t.match(payload, { jobs: { test: { 'runs-on': ['linux'], strategy: { matrix } } } })
    await runner.report(first.id, Result.SUCCESS, { from: 'a', both: 'a' })
    await runner.report(second.id, Result.SUCCESS, { both: 'b' })
    const report = await runner.fetchTask()
    t.strictSame({ ...report.needs['test']?.outputs }, { from: 'a', both: 'b' })
    t.equal(report.needs['test']?.result, Result.SUCCESS)
    await runner.report(report.id, Result.SUCCESS)
    t.match(await engine.endedRun(1), { status: 'success' })
    const { json } = await as('anyone', 'GET', `/repos/ada/engine/commits/${sha}/status`)
    const { state, statuses } = json as { state: string; statuses: { context: string }[] }
    t.equal(state, 'success')
    t.strictSame(statuses.map(({ context }) => context).toSorted(), [
      'CI / list (push)',
      'CI / report (push)',
      'CI / test (${{ b }}) (push)',
      'CI / test (a) (push)',
      'CI / test (push)',
    ])
  },
)

await gateways.onOneDatabase('a job fails if its outputs make no matrix', async (t, gateway) => {
  const { engine, runner } = await start(gateway)
  const list = await runner.fetchTask()
  await runner.report(list.id, Result.SUCCESS, { systems: '["a"', label: 'linux' })
  const report = await runner.fetchTask()
  t.equal(report.needs['test']?.result, Result.FAILURE)
  const [, test] = await engine.jobs(1)
  t.match(test?.reason, /^\.gitea\/workflows\/ci\.yaml:\d+:\d+: jobs\.test\.strategy\.matrix/)
  await runner.report(report.id, Result.SUCCESS)
  t.match(await engine.endedRun(1), { status: 'failure' })
})

await gateways.onOneDatabase(
  'a failed need skips the job without planning it',
  async (t, gateway) => {
    const { engine, runner, jobs } = await start(gateway)
    const list = await runner.fetchTask()
    await runner.report(list.id, Result.FAILURE)
    const report = await runner.fetchTask()
    await runner.report(report.id, Result.SUCCESS)
    await engine.endedRun(1)
    t.match(await jobs(), ['list: list: failure', 'test: test: skipped', 'report: report: success'])
  },
)

await gateways.onOneDatabase(
  'jobs and what they have become fail and are cancelled together',
  async (t, gateway) => {
    const { engine, runner, jobs } = await start(gateway)
    const context = await gateway.openContext()
    const list = await runner.fetchTask()
    await runner.report(list.id, Result.SUCCESS, { systems: '[1,2,3]', label: 'linux' })
    const first = await runner.fetchTask()
    await runner.report(first.id, Result.FAILURE)
    t.match(await jobs(), [
      /success/,
      'test: test: failure',
      'report: report: waiting',
      'test/test: test (1): failure',
      'test/test: test (2): cancelled',
      'test/test: test (3): cancelled',
    ])
    await engine.commit(`${WORKFLOW}# again`)
    await runner.report((await runner.fetchTask()).id, Result.SUCCESS)
    await runner.report((await runner.fetchTask()).id, Result.SUCCESS, {
      systems: '[1,2]',
      label: 'linux',
    })
    const running = await runner.fetchTask()
    await cancelRun(context, await engine.run(2))
    const cancelled = (await engine.jobs(2)).map(({ status }) => status)
    t.strictSame(cancelled, ['success', 'cancelling', 'cancelled', 'cancelling', 'cancelled'])
    await runner.report(running.id, Result.SUCCESS)
    t.match(await engine.statuses(2), { test: 'cancelled', 'test/test': 'cancelled' })
  },
)

await gateways.onOneDatabase(
  'a job is planned once, also if its planning was lost',
  async (t, gateway) => {
    const { db, engine, runner } = await start(gateway)
    const context = await gateway.openContext()
    const list = await runner.fetchTask()
    const enqueued: number[] = []
    const upkeep = {
      ...context.upkeep,
      enqueueJobPlan: async (id: number) => void enqueued.push(id),
    }
    await runner.report(list.id, Result.SUCCESS, { systems: '[1]', label: 'linux' })
    await runner.fetchTask()
    const [, test] = await engine.jobs(1)
    await planJob(context, test?.id ?? 0)
    t.equal((await engine.jobs(1)).length, 4)
    await db('workflow_jobs')
      .where({ id: test?.id })
      .update({ status: 'waiting', is_deferred: true })
    await sweepRuns({ ...context, upkeep })
    t.strictSame(enqueued, [], 'it has just begun to wait')
    await sweepRuns({ ...context, upkeep }, Date.now() + 61_000)
    t.strictSame(enqueued, [test?.id])
  },
)
