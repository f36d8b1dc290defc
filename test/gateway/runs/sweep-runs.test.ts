/** Tasks of lost runners, and jobs that no runner takes. */

import t from 'tap'
import { Result } from '../../../gateway/runner-protocol/messages.js'
import { sweepRuns } from '../../../gateway/runs/sweep-runs.js'
import { addRunEvent } from '../../../sql/runs/events.js'
import { registerClient } from '../../helpers/runner-client.js'
import { sharedGateways } from '../../helpers/shared-gateways.js'
import { addWorkflowRepository } from '../../helpers/workflow-repository.js'

const MINUTE_MS = 60_000

const gateways = sharedGateways(t)

const WORKFLOW = `
on: push
jobs:
  build: { runs-on: linux, steps: [{ run: 'true' }] }
  other: { runs-on: nowhere, steps: [{ run: 'true' }] }
`

await gateways.forEachDatabase(
  'what will not end by itself is ended with the reason',
  async (t, gateway) => {
    const { db, port } = gateway
    const engine = await addWorkflowRepository(gateway)
    const runner = await registerClient({ port, db })
    const context = await gateway.openContext()
    await engine.commit(WORKFLOW)
    const task = await runner.fetchTask()
    await sweepRuns(context, Date.now() + 1 * MINUTE_MS)
    t.strictSame(await engine.statuses(1), { build: 'running', other: 'waiting' })
    await runner.sendRows(task.id, 0, ['heard'])
    // Jobs that waited for others first are not counted from their creation.
    await db('workflow_jobs').update({ created_at: 0 })
    await sweepRuns(context, Date.now() + 9 * MINUTE_MS)
    t.strictSame(await engine.statuses(1), { build: 'running', other: 'waiting' })
    await sweepRuns(context, Date.now() + 11 * MINUTE_MS)
    t.strictSame(await engine.statuses(1), { build: 'failure', other: 'waiting' })
    t.equal(
      await runner.report(task.id, Result.SUCCESS),
      Result.FAILURE,
      'a late result is too late',
    )
    await sweepRuns(context, Date.now() + 24 * 60 * MINUTE_MS + 1_000)
    t.strictSame(await engine.statuses(1), { build: 'failure', other: 'cancelled' })
    const reasons = (await engine.jobs(1)).map(({ reason }) => reason)
    t.match(reasons, [/sent nothing for 10 minutes/, /No runner has taken the job for 24 hours/])
    t.match(await engine.run(1), { status: 'failure' })
  },
)

await gateways.forEachDatabase(
  'a job whose runner does not begin is given to another one, once',
  async (t, gateway) => {
    const { db, port } = gateway
    const engine = await addWorkflowRepository(gateway)
    const runner = await registerClient({ port, db })
    const context = await gateway.openContext()
    await engine.commit(WORKFLOW)
    const first = await runner.fetchTask()
    await sweepRuns(context, Date.now() + 3 * MINUTE_MS)
    t.strictSame(await engine.statuses(1), { build: 'waiting', other: 'waiting' })
    const second = await runner.fetchTask()
    t.not(second.id, first.id)
    t.equal(await runner.report(first.id, Result.SUCCESS), Result.CANCELLED, 'it is too late')
    t.strictSame(await engine.statuses(1), { build: 'running', other: 'waiting' })
    await sweepRuns(context, Date.now() + 3 * MINUTE_MS)
    t.strictSame(await engine.statuses(1), { build: 'failure', other: 'waiting' })
    t.match((await engine.jobs(1))[0]?.reason, /has not begun within 2 minutes, again/)
  },
)

await gateways.forEachDatabase(
  'an event whose planning was lost is planned again',
  async (t, gateway) => {
    const { ada, db } = gateway
    const engine = await addWorkflowRepository(gateway)
    const after = await engine.commit(WORKFLOW)
    await engine.run(1)
    const context = await gateway.openContext()
    const id = await addRunEvent(db, {
      event: 'push',
      action: '',
      pullNumber: undefined,
      causeKey: 'a push before the process was killed',
      repositoryId: engine.repository.id,
      reference: 'refs/heads/main',
      before: undefined,
      after,
      actorId: ada.id,
    })
    // The events of the run itself may still be in the gateway's own queue.
    const enqueued: number[] = []
    const upkeep = {
      ...context.upkeep,
      enqueuePlan: async (each: number) => void (each === id && enqueued.push(each)),
    }
    await sweepRuns({ ...context, upkeep })
    t.strictSame(enqueued, [], 'it was stored now')
    await sweepRuns({ ...context, upkeep }, Date.now() + 2 * MINUTE_MS)
    t.strictSame(enqueued, [id])
    await sweepRuns({ ...context, upkeep }, Date.now() + 25 * 60 * MINUTE_MS)
    t.strictSame(enqueued, [id], 'it is not tried for ever')
  },
)
