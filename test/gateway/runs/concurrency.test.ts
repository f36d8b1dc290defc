/** Concurrency groups of workflows and jobs, with one and with several gateways. */

import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import type { DatabaseLocation } from '../../../conf/database-location.js'
import { Result } from '../../../gateway/runner-protocol/messages.js'
import { cancelRun } from '../../../gateway/runs/cancel-run.js'
import { changeRun, startRun } from '../../../gateway/runs/change-run.js'
import { sweepRuns } from '../../../gateway/runs/sweep-runs.js'
import type { Database } from '../../../sql/database/database.js'
import { changeJob, listJobs, type NewJob } from '../../../sql/runs/run-jobs.js'
import type { NewRun, Run } from '../../../sql/runs/runs.js'
import { isFinal } from '../../../sql/runs/statuses.js'
import { forEachDatabase } from '../../helpers/databases.js'
import { openContext } from '../../helpers/gateway.js'
import { aRepository } from '../../helpers/rows.js'
import { aJob } from '../../helpers/run-rows.js'
import { registerClient } from '../../helpers/runner-client.js'
import { type SharedGateway, sharedGateways } from '../../helpers/shared-gateways.js'
import { isFullSize } from '../../helpers/test-size.js'
import { addWorkflowRepository } from '../../helpers/workflow-repository.js'

const gateways = sharedGateways(t)

async function start(gateway: SharedGateway) {
  const engine = await addWorkflowRepository(gateway)
  const runner = await registerClient({ port: gateway.port, db: gateway.db })
  /** Executes the next job. */
  const execute = async (result: Result) => {
    const task = await runner.fetchTask()
    await runner.report(task.id, result)
  }
  const statusOf = async (number: number) => (await engine.run(number)).status
  return { ...gateway, engine, runner, execute, statusOf }
}

const STEPS = `steps: [{ run: 'true' }]`

await gateways.onOneDatabase(
  'a run waits for its group, and a newer one replaces it',
  async (t, gateway) => {
    const { ask, as, db, engine, execute, runner, statusOf } = await start(gateway)
    const commit = async (group: string) =>
      await engine.commit(`
on: push
concurrency: ${group}
jobs: { build: { runs-on: linux, ${STEPS} } }
`)
    await commit('Deploy-${{ github.ref_name }}')
    const first = await runner.fetchTask()
    await commit('deploy-MAIN')
    t.equal(await statusOf(2), 'blocked')
    const page = await ask({ path: '/ada/engine/actions/runs/2' })
    t.match(page.text, /Waits for the concurrency group 'deploy-MAIN'\./)
    await commit('deploy-main ')
    t.match(await engine.endedRun(2), { status: 'cancelled' })
    const [replaced] = await engine.jobs(2)
    t.equal(
      replaced?.reason,
      "Cancelled because a newer run of the concurrency group 'deploy-MAIN' waits.",
    )
    await commit('${{ github.head_ref || github.run_id }}')
    await commit('${{ github.head_ref || github.run_id }}')
    t.strictSame(
      [await statusOf(3), await statusOf(4), await statusOf(5)],
      ['blocked', 'waiting', 'waiting'],
    )
    await runner.report(first.id, Result.SUCCESS)
    t.match(await statusOf(3), 'waiting')
    for (let ended = 0; ended < 3; ended += 1) await execute(Result.SUCCESS)
    for (const number of [1, 3, 4, 5]) t.match(await engine.endedRun(number), { status: 'success' })
    t.strictSame(await db('workflow_groups').select(), [], 'free groups have no rows')
    const { id } = await engine.run(1)
    await commit('deploy-main')
    await engine.run(6)
    t.equal((await as('ada', 'POST', `/repos/ada/engine/actions/runs/${id}/rerun`)).status, 201)
    t.strictSame([await statusOf(6), await statusOf(1)], ['waiting', 'blocked'])
    await execute(Result.SUCCESS)
    t.match(await statusOf(1), 'waiting', 'a re-run enters the group again')
  },
)

await gateways.onOneDatabase('cancel-in-progress ends the active run', async (t, gateway) => {
  const { engine, execute, runner, statusOf } = await start(gateway)
  const commit = async (cancels: string) =>
    await engine.commit(`
on: push
concurrency: { group: x, cancel-in-progress: "${cancels}" }
jobs:
  build: { runs-on: linux, ${STEPS} }
  other: { runs-on: none, ${STEPS} }
`)
  await commit('true')
  const first = await runner.fetchTask()
  await commit("${{ github.ref_name == 'other' }}")
  t.strictSame([await statusOf(1), await statusOf(2)], ['running', 'blocked'])
  await commit("${{ github.ref_name == 'main' }}")
  t.match(await engine.endedRun(2), { status: 'cancelled' })
  while ((await runner.report(first.id, Result.UNSPECIFIED)) !== Result.CANCELLED) await sleep(25)
  t.strictSame(await engine.statuses(1), { build: 'cancelling', other: 'cancelled' })
  t.equal(await statusOf(3), 'blocked', 'the active run has not ended')
  await runner.report(first.id, Result.SUCCESS)
  t.match(await engine.endedRun(1), { status: 'cancelled' })
  t.equal(await statusOf(3), 'waiting')
  await execute(Result.SUCCESS)
})

await gateways.onOneDatabase('jobs wait for groups of their own', async (t, gateway) => {
  const { engine, execute, runner, statusOf } = await start(gateway)
  const text = `
on: push
jobs:
  build: { runs-on: linux, ${STEPS} }
  deploy:
    needs: build
    concurrency: production
    runs-on: linux
    ${STEPS}
  after: { needs: deploy, if: always(), runs-on: linux, ${STEPS} }
`
  await engine.commit(text)
  await execute(Result.SUCCESS)
  const deploy = await runner.fetchTask()
  await engine.commit(`${text}\n`)
  await execute(Result.SUCCESS)
  t.match(await engine.statuses(2), { build: 'success', deploy: 'blocked', after: 'blocked' })
  await engine.commit(`${text}\n\n`)
  await execute(Result.SUCCESS)
  t.match(await engine.statuses(2), { deploy: 'cancelled', after: 'waiting' })
  t.match(await engine.statuses(3), { deploy: 'blocked', after: 'blocked' })
  await execute(Result.SUCCESS)
  t.match(await engine.endedRun(2), { status: 'cancelled' })
  await runner.report(deploy.id, Result.FAILURE)
  t.match(await engine.statuses(3), { deploy: 'waiting', after: 'blocked' })
  for (let ended = 0; ended < 3; ended += 1) await execute(Result.SUCCESS)
  t.strictSame([await statusOf(1), await statusOf(3)], ['failure', 'success'])
})

await gateways.onOneDatabase(
  'of the jobs of a matrix in one group, one begins and the last one waits',
  async (t, gateway) => {
    const { db, engine, execute } = await start(gateway)
    await engine.commit(`
on: push
jobs:
  test:
    concurrency: same-\${{ matrix.n > 0 }}
    strategy: { matrix: { n: [1, 2, 3] } }
    runs-on: linux
    ${STEPS}
`)
    const statuses = async () => (await engine.jobs(1)).map(({ status }) => status)
    t.strictSame(await statuses(), ['waiting', 'cancelled', 'blocked'])
    await execute(Result.SUCCESS)
    t.strictSame(await statuses(), ['success', 'cancelled', 'waiting'])
    await execute(Result.SUCCESS)
    t.match(await engine.endedRun(1), { status: 'cancelled' })
    t.strictSame(await db('workflow_groups').select(), [])
  },
)

/** Number of random changes by each gateway. */
const STEPS_EACH = isFullSize ? 40 : 25

const NO_RUN = {
  workflowFile: 'build.yaml',
  workflowName: 'Build',
  title: '',
  event: 'push',
  reference: 'refs/heads/main',
  commitId: 'a'.repeat(40),
  reportedCommitId: 'a'.repeat(40),
  pull: undefined,
  isFromFork: false,
  needsApproval: false,
  actorId: undefined,
  fault: '',
  payload: '{}',
  text: '',
} as const satisfies Partial<NewRun>

/** Opens several gateways on one database, with a repository. */
async function openGateways(t: Test, location: DatabaseLocation, count: number) {
  const opened = await Promise.all(
    Array.from({ length: count }, () => openContext(t, { location })),
  )
  const [first] = opened
  if (first === undefined) throw new Error('There is no gateway.')
  const ada = await first.fixture.addUser('ada')
  const repository = await aRepository(first.fixture.db, ada.id, 'engine')
  return { contexts: opened.map(({ context }) => context), db: first.fixture.db, repository }
}

/** Returns the numbers of active members of each group. */
async function activeCounts(db: Database, repositoryId: number): Promise<readonly number[]> {
  const rows: readonly { run_id: number; id: number; run_key: string; job_key: string }[] =
    await db('workflow_jobs as j')
      .join('workflow_runs as r', 'r.id', 'j.run_id')
      .where('r.repository_id', repositoryId)
      .whereIn('j.status', ['waiting', 'running', 'cancelling'])
      .select('j.run_id', 'j.id', 'r.concurrency_key as run_key', 'j.concurrency_key as job_key')
  const members = new Map<string, Set<string>>()
  const note = (key: string | null, member: string) => {
    if (key !== null) members.set(key, (members.get(key) ?? new Set()).add(member))
  }
  for (const { run_id, id, run_key, job_key } of rows) {
    note(run_key, `run ${run_id}`)
    note(job_key, `job ${id}`)
  }
  return [...members.values()].map(({ size }) => size)
}

await forEachDatabase(
  t,
  'three gateways keep one active member in each group, and forget none',
  async (t, location) => {
    const { contexts, db, repository } = await openGateways(t, location, 3)
    const pick = <T>(list: readonly T[]): T => list[Math.floor(Math.random() * list.length)] as T
    const groupOf = (...names: readonly string[]) => ({
      group: pick(names),
      cancels: Math.random() < 0.3,
    })
    const runs: Run[] = []
    const begin = async () => {
      const jobs: NewJob[] = [1, 2].map((n) =>
        aJob(`j${n}`, { concurrency: Math.random() < 0.4 ? groupOf('x', 'y') : undefined }),
      )
      const concurrency = Math.random() < 0.7 ? groupOf('a', 'b', 'c') : undefined
      const input = { ...NO_RUN, repositoryId: repository.id, eventKey: randomUUID() }
      const run = await startRun(pick(contexts), repository, { ...input, concurrency, jobs })
      if (run !== undefined) runs.push(run)
    }
    const advance = async ({ id }: Run) => {
      const job = (await listJobs(db, id)).find(({ status }) => !isFinal(status))
      if (job === undefined) return false
      const stoppedAtMs = Date.now()
      const changes = [
        { from: ['cancelling'], to: 'cancelled', stoppedAtMs },
        { from: ['running'], to: pick(['success', 'failure'] as const), stoppedAtMs },
        { from: ['waiting'], to: 'running' },
      ] as const
      return await changeRun(pick(contexts), id, async (trx) => {
        for (const { id: jobId } of await listJobs(trx, id)) {
          for (const change of changes) if (await changeJob(trx, jobId, change)) return true
        }
        return false
      })
    }
    let isDone = false
    let looks = 0
    const observe = async () => {
      while (!isDone) {
        const counts = await activeCounts(db, repository.id)
        if (counts.some((count) => count > 1)) t.fail(`active members: ${counts.join()}`)
        looks += 1
        await sleep(5)
      }
    }
    const work = async () => {
      for (let step = 0; step < STEPS_EACH; step += 1) {
        const chance = Math.random()
        if (runs.length === 0 || chance < 0.35) await begin()
        else if (chance < 0.45) await cancelRun(pick(contexts), pick(runs))
        else await advance(pick(runs))
      }
    }
    const observing = observe()
    await Promise.all(contexts.map(work))
    for (let moved = true; moved; ) {
      moved = false
      for (const run of runs) while (await advance(run)) moved = true
    }
    isDone = true
    await observing
    const left = await db('workflow_runs').whereNotIn('status', [
      'success',
      'failure',
      'cancelled',
      'skipped',
    ])
    t.strictSame(left, [], 'nothing waits in a free group')
    t.strictSame(await db('workflow_groups').select(), [])
    t.ok(looks > 3 && runs.length > 10, `${runs.length} runs, ${looks} looks`)
  },
)

await forEachDatabase(
  t,
  'the sweep settles runs that a killed gateway has not settled',
  async (t, location) => {
    const { contexts, db, repository } = await openGateways(t, location, 1)
    const [context] = contexts
    if (context === undefined) throw new Error('There is no gateway.')
    const begin = async (cancels = false) => {
      const concurrency = { group: 'x', cancels }
      const input = { ...NO_RUN, repositoryId: repository.id, eventKey: randomUUID() }
      return await startRun(context, repository, { ...input, concurrency, jobs: [aJob('a')] })
    }
    const statuses = async () => await db('workflow_runs').orderBy('id').pluck('status')
    const [first, second] = [await begin(), await begin()]
    t.strictSame(await statuses(), ['waiting', 'blocked'])
    await db('workflow_groups').update({ active_run: second?.id, pending_run: null })
    await sweepRuns(context)
    t.strictSame(await statuses(), ['waiting', 'waiting'], 'an active run begins')
    await db('workflow_groups').update({ is_cancelled: true })
    await sweepRuns(context)
    t.strictSame(await statuses(), ['waiting', 'cancelled'], 'a cancelled one ends')
    await db('workflow_runs').where({ id: first?.id }).update({ group_state: 'left' })
    const [third, fourth] = [await begin(), await begin()]
    await db('workflow_groups').update({ pending_run: null })
    await sweepRuns(context)
    t.strictSame((await statuses()).slice(2), ['waiting', 'cancelled'], 'a replaced one ends')
    t.ok(third !== undefined && fourth !== undefined)
    const ended = { status: 'success', stopped_at: 1 }
    await db('workflow_jobs').where({ run_id: third?.id }).update(ended)
    await db('workflow_runs').where({ id: third?.id }).update(ended)
    await sweepRuns(context)
    t.strictSame(await db('workflow_groups').select(), [], 'an ended one leaves')
  },
)
