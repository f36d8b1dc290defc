/** Webhook events of workflow runs and jobs. */

import t from 'tap'
import { Result } from '../../../gateway/runner-protocol/messages.js'
import { onOneDatabase } from '../../helpers/databases.js'
import { aWebhook, listDeliveredPayloads } from '../../helpers/deliveries.js'
import { startGatewayWithUsers } from '../../helpers/gateway-with-users.js'
import { registerClient } from '../../helpers/runner-client.js'
import { addWorkflowRepository, found } from '../../helpers/workflow-repository.js'

const TWO_JOBS = `
name: ci
on: push
jobs:
  build: { runs-on: linux, steps: [ { run: make } ] }
  test: { runs-on: [linux, gpu], needs: build, steps: [ { run: make test } ] }
`

await onOneDatabase(
  t,
  'each change of a run and of its jobs is delivered once, with the words of the API',
  async (t, location) => {
    const gateway = await startGatewayWithUsers(t, { location })
    const { ada, db, port } = gateway
    const engine = await addWorkflowRepository(gateway)
    await aWebhook(db, { ownerId: ada.id }, { events: ['workflow_run', 'workflow_job'] })
    const runner = await registerClient({ port, db })
    const after = await engine.commit(TWO_JOBS)
    await engine.run(1)
    await engine.plannedRuns()
    const task = await runner.fetchTask()
    await runner.report(task.id, Result.FAILURE)
    await engine.endedRun(1)
    const deliveries = await listDeliveredPayloads(db)
    const common = {
      workflow: { id: 'ci.yaml', name: 'ci', path: '.gitea/workflows/ci.yaml' },
      repository: { full_name: 'ada/engine' },
      sender: { login: 'ada' },
    }
    t.match(
      deliveries.map(({ payload }) => payload),
      Array.from(deliveries, () => common),
    )
    const [run] = deliveries
    t.match(run?.payload, { workflow_run: { event: 'push', head_sha: after, run_number: 1 } })
    const shown = deliveries.map(({ event, payload }) => {
      const { workflow_job, workflow_run } = payload as Readonly<Record<string, Shown | undefined>>
      const { name = '', conclusion = '' } = workflow_job ?? workflow_run ?? {}
      return [event, payload['action'], name, conclusion].join(' ').trim()
    })
    t.strictSame(shown, [
      'workflow_run requested',
      'workflow_job queued build',
      'workflow_job waiting test',
      'workflow_run in_progress',
      'workflow_job in_progress build',
      'workflow_run completed  failure',
      'workflow_job completed build failure',
      'workflow_job completed test skipped',
    ])
    const queued = deliveries[1]?.payload
    t.match(queued, { workflow_job: { labels: ['linux'], status: 'queued', run_attempt: 1 } })
    t.notOk(queued?.['organization'], 'the owner is a user')
  },
)

interface Shown {
  readonly name?: string
  readonly conclusion?: string
}

const MATRIX_OF_NEEDS = `
on: push
jobs:
  list: { runs-on: linux, outputs: { all: '["a","b"]' }, steps: [ { run: make } ] }
  each:
    needs: list
    strategy: { matrix: { part: '\${{ fromJSON(needs.list.outputs.all) }}' } }
    runs-on: linux
    steps: [ { run: make } ]
`

t.test('a job is queued only as the jobs that it becomes', async (t) => {
  const gateway = await startGatewayWithUsers(t)
  const { db, port } = gateway
  const engine = await addWorkflowRepository(gateway)
  await aWebhook(db, { repositoryId: engine.repository.id }, { events: ['workflow_job'] })
  const runner = await registerClient({ port, db })
  await engine.commit(MATRIX_OF_NEEDS)
  const first = await runner.fetchTask()
  await runner.report(first.id, Result.SUCCESS, { all: '["a","b"]' })
  for (let count = 0; count < 2; count += 1) {
    const { id } = await runner.fetchTask()
    await runner.report(id, Result.SUCCESS)
  }
  // A job can be claimed before its change is published.
  const queued = await found(async () => {
    const names = (await listDeliveredPayloads(db))
      .filter(({ payload }) => payload['action'] === 'queued')
      .map(({ payload }) => (payload['workflow_job'] as Shown).name)
    return names.includes('each (b)') ? names : undefined
  })
  t.strictSame(queued, ['list', 'each (a)', 'each (b)'])
})

t.test('a job that is cancelled is in progress once, and then completed', async (t) => {
  const gateway = await startGatewayWithUsers(t)
  const { as, db, port } = gateway
  const engine = await addWorkflowRepository(gateway)
  await aWebhook(db, { repositoryId: engine.repository.id }, { events: ['workflow_job'] })
  const runner = await registerClient({ port, db })
  await engine.commit('on: push\njobs: { a: { runs-on: linux, steps: [ { run: make } ] } }')
  await engine.run(1)
  await engine.plannedRuns()
  const task = await runner.fetchTask()
  const { id } = await engine.run(1)
  await as('ada', 'POST', `/repos/ada/engine/actions/runs/${id}/cancel`)
  t.strictSame(await engine.statuses(1), { a: 'cancelling' })
  await runner.report(task.id, Result.CANCELLED)
  const actions = (await listDeliveredPayloads(db)).map(({ payload }) => payload['action'])
  t.strictSame(actions, ['queued', 'in_progress', 'completed'])
})

t.test('a branch filter is about the branch of the run', async (t) => {
  const gateway = await startGatewayWithUsers(t)
  const { db } = gateway
  const engine = await addWorkflowRepository(gateway)
  for (const branchFilter of ['main', 'release/*']) {
    const fields = { events: ['workflow_run'], branchFilter } as const
    await aWebhook(db, { repositoryId: engine.repository.id }, fields)
  }
  await engine.commit(TWO_JOBS)
  await engine.run(1)
  await engine.plannedRuns()
  const deliveries = await listDeliveredPayloads(db)
  t.strictSame(
    deliveries.map(({ webhookId, event }) => [webhookId, event]),
    [[1, 'workflow_run']],
  )
})
