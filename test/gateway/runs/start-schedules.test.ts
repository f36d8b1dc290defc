/** Schedules of workflows: when they are stored, and which runs they start. */

import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import type { Context } from '../../../gateway/request/context.js'
import { planEvent } from '../../../gateway/runs/plan-event.js'
import { refreshSchedules } from '../../../gateway/runs/refresh-schedules.js'
import { startSchedules } from '../../../gateway/runs/start-schedules.js'
import { findRunPayload } from '../../../sql/runs/runs.js'
import { listSchedules, replaceSchedules, type Schedule } from '../../../sql/runs/schedules.js'
import { disableWorkflow, enableWorkflow } from '../../../sql/runs/workflow-switches.js'
import { type SharedGateway, sharedGateways } from '../../helpers/shared-gateways.js'
import { addWorkflowRepository } from '../../helpers/workflow-repository.js'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const JOBS = "jobs: { build: { runs-on: linux, steps: [{ run: 'true' }] } }"

/** Returns a workflow with these schedules. */
function workflow(...crons: readonly string[]): string {
  return `on: { schedule: [${crons.map((cron) => `{ cron: '${cron}' }`)}] }\n${JOBS}`
}

const gateways = sharedGateways(t)

async function openFixture(gateway: SharedGateway) {
  const { db } = gateway
  const engine = await addWorkflowRepository(gateway)
  const opened = await gateway.openContext()
  /** The context of a second gateway, which plans events immediately. */
  const context: Context = {
    ...opened,
    upkeep: { ...opened.upkeep, enqueuePlan: (id) => planEvent(context, id) },
  }
  const { id } = engine.repository
  return {
    ...gateway,
    engine,
    id,
    context,
    patch: (body: object) => gateway.as('ada', 'PATCH', '/repos/ada/engine', body),
    /** Waits until the repository has these schedules; each is a file with its expression. */
    async scheduled(...expected: readonly string[]): Promise<readonly Schedule[]> {
      for (let tries = 0; tries < 400; tries += 1) {
        const found = await listSchedules(db, id)
        const names = found.map(({ file, cron }) => `${file} ${cron}`)
        if (names.join() === expected.join()) return found
        await sleep(25)
      }
      throw new Error(`The schedules have not become ${expected.join()} within ten seconds.`)
    },
    /** Starts the schedules that are due at a time, and returns the runs of schedules. */
    async runsAfter(nowMs: number) {
      await startSchedules(context, nowMs)
      return (await engine.plannedRuns()).filter(({ event }) => event === 'schedule')
    },
  }
}

await gateways.onOneDatabase(
  'a due schedule starts its workflow at the tip',
  async (t, gateway) => {
    const { engine, scheduled, runsAfter, context, db, ada } = await openFixture(gateway)
    await engine.commit(workflow('0 3 * * *', 'TZ=Europe/Berlin 30 4 * * MON'))
    await engine.commit(workflow('0 3 * * *'), 'other.yaml')
    const [schedule] = await scheduled(
      'ci.yaml 0 3 * * *',
      'ci.yaml TZ=Europe/Berlin 30 4 * * MON',
      'other.yaml 0 3 * * *',
    )
    const dueMs = schedule?.nextAtMs ?? 0
    t.ok(dueMs > Date.now() && dueMs <= Date.now() + DAY_MS && dueMs % DAY_MS === 3 * HOUR_MS)
    const commitId = await engine.commit('on: push\njobs: {}', 'later.yaml')
    t.strictSame(await runsAfter(dueMs - 1), [], 'too early')
    // Two gateways.
    await Promise.all([startSchedules(context, dueMs), startSchedules(context, dueMs)])
    const runs = await runsAfter(dueMs + 1)
    t.strictSame(runs.map(({ workflowFile }) => workflowFile).sort(), ['ci.yaml', 'other.yaml'])
    for (const run of runs) {
      t.match(run, { commitId, reference: 'refs/heads/main', actorId: ada.id })
      t.match(JSON.parse(await findRunPayload(db, run.id)), {
        schedule: '0 3 * * *',
        workflow: `.gitea/workflows/${run.workflowFile}`,
        repository: { full_name: 'ada/engine' },
        sender: { login: 'ada' },
      })
    }
    t.equal(
      (await runsAfter(dueMs + 10 * DAY_MS)).length,
      5,
      'each once after ten days of downtime',
    )
    t.equal((await runsAfter(dueMs + 10 * DAY_MS)).length, 5)
    const times = (await listSchedules(db, engine.repository.id)).map(({ nextAtMs }) => nextAtMs)
    t.equal(times[0], dueMs + 11 * DAY_MS)
  },
)

await gateways.onOneDatabase('pushes and settings change the schedules', async (t, gateway) => {
  const { engine, scheduled, patch, as } = await openFixture(gateway)
  await engine.commit(workflow('0 3 * * *'))
  const [before] = await scheduled('ci.yaml 0 3 * * *')
  await engine.commit(workflow('0 3 * * *', '@weekly'))
  const [after] = await scheduled('ci.yaml 0 3 * * *', 'ci.yaml @weekly')
  t.equal(after?.id, before?.id, 'a schedule that stays is not made again')
  const branch = { new_branch_name: 'next', old_branch_name: 'main' }
  await as('ada', 'POST', '/repos/ada/engine/branches', branch)
  await engine.commit(workflow('@weekly'))
  await scheduled('ci.yaml @weekly')
  await patch({ default_branch: 'next' })
  await scheduled('ci.yaml 0 3 * * *', 'ci.yaml @weekly')
  await patch({ has_actions: false })
  await scheduled()
  await patch({ has_actions: true })
  await scheduled('ci.yaml 0 3 * * *', 'ci.yaml @weekly')
  await engine.commit(workflow('0 3 * *'))
  await scheduled()
  const [fault] = await engine.plannedRuns()
  t.match(fault, {
    event: 'push',
    fault: /^.gitea\/workflows\/ci.yaml:1:\d+: on.schedule\[0\].cron/,
  })
  await engine.commit(workflow('@daily'))
  await scheduled('ci.yaml @daily')
  const path = '/repos/ada/engine/contents/.gitea/workflows/ci.yaml'
  const { sha } = (await as('ada', 'GET', path)).json as { sha: string }
  await as('ada', 'DELETE', path, { sha, message: 'Remove ci.yaml' })
  await scheduled()
})

await gateways.onSqlite(
  'schedules that are not in the file any more start nothing',
  async (t, gateway) => {
    const { engine, scheduled, runsAfter, context, id } = await openFixture(gateway)
    await engine.commit(workflow('@daily', '@weekly'))
    await scheduled('ci.yaml @daily', 'ci.yaml @weekly')
    await engine.commit(workflow('@daily'))
    await scheduled('ci.yaml @daily')
    const nextAtMs = Date.now()
    await replaceSchedules(context.db, id, [
      { file: 'ci.yaml', cron: '@weekly', nextAtMs },
      { file: 'old.yaml', cron: '@daily', nextAtMs },
    ])
    t.strictSame(await runsAfter(nextAtMs), [])
  },
)

await gateways.onSqlite(
  'disabled workflows and archived repositories start nothing',
  async (t, gateway) => {
    const { engine, scheduled, runsAfter, patch, context, id } = await openFixture(gateway)
    await engine.commit(workflow('@daily'))
    const [schedule] = await scheduled('ci.yaml @daily')
    const dueMs = schedule?.nextAtMs ?? 0
    const place = { repositoryId: id, file: 'ci.yaml' }
    await disableWorkflow(context.db, place)
    t.strictSame(await runsAfter(dueMs), [])
    await enableWorkflow(context.db, place)
    await patch({ archived: true })
    t.strictSame(await runsAfter(dueMs + DAY_MS), [])
    await patch({ archived: false })
    t.equal((await runsAfter(dueMs + 2 * DAY_MS)).length, 1)
  },
)

await gateways.onSqlite('a repository has at most 100 schedules', async (t, gateway) => {
  const { as, context, id } = await openFixture(gateway)
  const crons = Array.from({ length: 20 }, (_, minute) => `${minute} 3 * * *`)
  const content = Buffer.from(workflow(...crons)).toString('base64')
  const files = Array.from({ length: 6 }, (_, file) => {
    return { operation: 'create', path: `.gitea/workflows/${file}.yaml`, content }
  })
  const committed = await as('ada', 'POST', '/repos/ada/engine/contents', { files })
  t.equal(committed.status, 201)
  await refreshSchedules(context, id)
  t.equal((await listSchedules(context.db, id)).length, 100)
})
