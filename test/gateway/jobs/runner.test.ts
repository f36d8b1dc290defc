/** The job runner: due jobs run soon, one at a time, and are released or retried. */

import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import type { JobContext, JobKind } from '../../../gateway/jobs/job.js'
import { createJobRunner, type JobRunner } from '../../../gateway/jobs/runner.js'
import { enqueueJob, JOB_ATTEMPTS_MAX } from '../../../sql/admin/jobs.js'
import type { Database } from '../../../sql/database/database.js'
import { selectRows } from '../../../sql/database/dialect.js'
import { type Fixture, openContext } from '../../helpers/gateway.js'
import { until } from '../../helpers/server-processes.js'

interface Scene {
  readonly context: JobContext
  readonly fixture: Fixture
  readonly db: Database
  /** Starts a runner that queries immediately; it is stopped at the end of the test. */
  run(kinds: readonly JobKind[], leaseMs?: number): JobRunner
  ask(subject?: string): Promise<void>
}

async function scene(t: Test): Promise<Scene> {
  const { context, fixture } = await openContext(t)
  const { db } = fixture
  return {
    context,
    fixture,
    db,
    run(kinds, leaseMs = 60_000) {
      const runner = createJobRunner(context, { kinds, leaseMs })
      runner.start()
      runner.pollIn(0)
      t.teardown(() => runner.stop())
      return runner
    },
    ask: (subject = '7') => enqueueJob(db, { kind: 'paint', subject, delayMs: 0 }),
  }
}

interface Row {
  readonly kind: string
  readonly subject: string
  readonly attempts: number
  readonly lease: string | null
  readonly run_after: number
}

const rowsOf = async (db: Database) =>
  await selectRows<Row>(
    db,
    'select kind, subject, attempts, lease, run_after from jobs order by id',
  )

/** Returns true if all jobs are done within seconds. */
async function areDone(db: Database): Promise<boolean> {
  const rows = await until(
    () => rowsOf(db),
    (left) => left.length === 0,
    10_000,
  )
  return rows.length === 0
}

t.test('due jobs are run in order', async (t) => {
  const { db, ask, run } = await scene(t)
  const painted: string[] = []
  for (const subject of ['a', 'b', 'c']) {
    await ask(subject)
    await sleep(2)
  }
  run([{ kind: 'paint', run: async (_context, subject) => void painted.push(subject) }])
  t.ok(await areDone(db))
  t.strictSame(painted, ['a', 'b', 'c'])
})

t.test('two runners of a machine run one job at a time', async (t) => {
  const { db, ask, run } = await scene(t)
  let running = 0
  const seen: number[] = []
  const paint: JobKind = {
    kind: 'paint',
    async run() {
      running += 1
      seen.push(running)
      await sleep(40)
      running -= 1
    },
  }
  for (const subject of ['a', 'b', 'c', 'd']) await ask(subject)
  const runners = [run([paint]), run([paint])]
  await until(
    async () => {
      for (const runner of runners) runner.pollIn(0)
      return rowsOf(db)
    },
    (left) => left.length === 0,
    10_000,
  )
  t.strictSame(seen, [1, 1, 1, 1])
})

t.test('a failing job is logged, retried and finally given up', async (t) => {
  const { db, ask, run, fixture } = await scene(t)
  await ask()
  const runner = run([{ kind: 'paint', run: () => Promise.reject(new Error('no paint')) }])
  for (let attempt = 1; attempt < JOB_ATTEMPTS_MAX; attempt += 1) {
    const isPostponed = ([row]: readonly Row[]) => row?.attempts === attempt && row.lease === null
    const [row] = await until(() => rowsOf(db), isPostponed, 10_000)
    t.equal(row?.attempts, attempt)
    t.ok((row?.run_after ?? 0) > Date.now() + 20_000)
    await db('jobs').update({ run_after: 0 })
    runner.pollIn(0)
  }
  t.ok(await areDone(db))
  const lines = fixture.lines.filter(({ job }) => job === 'paint')
  t.match(lines[0], {
    level: 40,
    msg: 'a job failed and will be retried',
    error: { message: 'no paint' },
  })
  t.match(lines.at(-1), { level: 50, msg: 'a job was given up', attempts: JOB_ATTEMPTS_MAX })
})

t.test('a job that ends its process each time is not retried for ever', async (t) => {
  const { db, ask, run, fixture } = await scene(t)
  await ask()
  await db('jobs').update({ attempts: JOB_ATTEMPTS_MAX })
  run([{ kind: 'paint', run: async () => void t.fail('it was run') }])
  t.ok(await areDone(db))
  t.match(fixture.lines.at(-1), { msg: 'a job was given up' })
})

t.test('a job of an unknown kind is left for another version', async (t) => {
  const { db, ask, run } = await scene(t)
  await ask()
  run([])
  const isPostponed = ([row]: readonly Row[]) => row?.attempts === 1 && row.lease === null
  t.match(await until(() => rowsOf(db), isPostponed, 10_000), [{ kind: 'paint', attempts: 1 }])
})

/** Creates a job that runs until it is aborted. */
function endless() {
  const state = { isStarted: false }
  const kind: JobKind = {
    kind: 'paint',
    run: (_context, _subject, signal) =>
      new Promise((_resolve, reject) => {
        state.isStarted = true
        signal.addEventListener('abort', () => reject(new Error('it was ended')))
      }),
  }
  return { state, kind }
}

t.test('a runner that is stopped aborts its job and releases it', async (t) => {
  const { db, ask, run, fixture } = await scene(t)
  await ask()
  const { state, kind } = endless()
  const runner = run([kind])
  t.ok(await until(async () => state.isStarted, Boolean, 10_000))
  t.match(await rowsOf(db), [{ attempts: 1, lease: /^\w{32}$/ }])
  await runner.stop()
  t.match(await rowsOf(db), [{ attempts: 0, lease: null }])
  t.strictSame(
    fixture.lines.filter(({ level }) => Number(level) > 30),
    [],
    'no error is logged',
  )
  runner.pollIn(0)
  await sleep(50)
  t.match(await rowsOf(db), [{ attempts: 0 }], 'and leases no other job')
})

t.test('a lease is renewed while the job runs, and losing it aborts the job', async (t) => {
  const { db, ask, run, fixture } = await scene(t)
  await ask()
  const { state, kind } = endless()
  run([kind], 400)
  t.ok(await until(async () => state.isStarted, Boolean, 10_000))
  await sleep(1_000)
  const [held] = await selectRows<{ leased_until: number }>(db, 'select leased_until from jobs')
  t.ok((held?.leased_until ?? 0) > Date.now(), 'still leased')
  await db('jobs').update({ lease: 'f'.repeat(32), leased_until: Date.now() + 60_000 })
  const isNotified = async () =>
    fixture.lines.some(({ msg }) => msg === 'the lease of a job was lost')
  t.ok(await until(isNotified, Boolean, 10_000))
  t.match(await rowsOf(db), [{ attempts: 1, lease: 'f'.repeat(32) }], 'the other holder keeps it')
})

t.test('a periodic job is scheduled again after success and after failure', async (t) => {
  const { db, run, context } = await scene(t)
  let runs = 0
  const everyMs = 3_600_000
  const mow: JobKind = {
    kind: 'mow',
    everyMs,
    async run() {
      runs += 1
      if (runs === 2) throw new Error('it rains')
    },
  }
  const runner = run([mow])
  const [asked] = await until(
    () => rowsOf(db),
    (rows) => rows.length > 0,
    10_000,
  )
  t.match(asked, { kind: 'mow', subject: 'all' })
  t.ok(Number(asked?.run_after) <= Date.now() + context.settings.maintenance.delayMs)
  const due = async (attempts: number) => {
    await db('jobs').update({ run_after: 0, attempts })
    runner.pollIn(0)
    const isWaiting = ([row]: readonly Row[]) => Number(row?.run_after) > 0 && row?.lease === null
    return (await until(() => rowsOf(db), isWaiting, 10_000))[0]
  }
  t.ok(Number((await due(0))?.run_after) > Date.now() + everyMs - 60_000)
  const after = await due(JOB_ATTEMPTS_MAX - 1)
  t.ok(Number(after?.run_after) > Date.now() + everyMs - 60_000)
  t.equal(runs, 2)
})

t.test('an unreachable database is logged once, and jobs run when it is back', async (t) => {
  const { db, ask, run, fixture } = await scene(t)
  await ask()
  await db.schema.renameTable('jobs', 'elsewhere')
  const painted: string[] = []
  const runner = run([{ kind: 'paint', run: async (_c, subject) => void painted.push(subject) }])
  const count = () =>
    fixture.lines.filter(({ msg }) => msg === 'the job queue is unavailable').length
  t.ok(await until(async () => count() > 0, Boolean, 10_000))
  runner.pollIn(0)
  await sleep(100)
  t.equal(count(), 1)
  await db.schema.renameTable('elsewhere', 'jobs')
  runner.pollIn(0)
  t.ok(await areDone(db))
  t.strictSame(painted, ['7'])
})

t.test(
  'as many jobs run concurrently as permitted, and jobs of other kinds are left',
  async (t) => {
    const { context, db, ask } = await scene(t)
    let running = 0
    let most = 0
    const kind: JobKind = {
      kind: 'paint',
      async run() {
        running += 1
        most = Math.max(most, running)
        await until(
          async () => most,
          (count) => count >= 2,
          10_000,
        )
        running -= 1
      },
    }
    for (const subject of ['1', '2', '3']) await ask(subject)
    await enqueueJob(db, { kind: 'other', subject: '1', delayMs: 0 })
    const runner = createJobRunner(context, {
      kinds: [kind],
      takes: { of: ['paint'] },
      name: 'painters',
      jobsMax: 2,
      concurrencyMax: 2,
    })
    runner.start()
    runner.pollIn(0)
    t.teardown(() => runner.stop())
    const left = await until(
      () => rowsOf(db),
      (rows) => rows.length === 1,
      10_000,
    )
    t.match(left, [{ kind: 'other', attempts: 0 }])
    t.equal(most, 2)
  },
)

t.test('jobs that store data wait while the disk is full', async (t) => {
  const { context, db, ask } = await scene(t)
  let refusal: string | undefined = 'data: full'
  const disk = { ...context.disk, state: () => ({ folders: [], refusal }) }
  const painted: string[] = []
  const paint: JobKind = {
    kind: 'paint',
    storesData: true,
    run: async (_context, subject) => void painted.push(subject),
  }
  const count: JobKind = { kind: 'count', run: async () => void painted.push('counted') }
  await ask()
  await enqueueJob(db, { kind: 'count', subject: '1', delayMs: 0 })
  for (const takes of [
    undefined,
    { without: ['other'] },
    { of: ['paint'] },
    { of: ['paint', 'count'] },
  ]) {
    const kinds = takes === undefined ? {} : { takes }
    const runner = createJobRunner({ ...context, disk }, { kinds: [paint, count], ...kinds })
    runner.start()
    runner.pollIn(0)
    await sleep(200)
    await runner.stop()
  }
  t.strictSame(painted, ['counted'])
  t.match(await rowsOf(db), [{ kind: 'paint', attempts: 0, lease: null }])
  refusal = undefined
  const runner = createJobRunner({ ...context, disk }, { kinds: [paint] })
  runner.start()
  runner.pollIn(0)
  t.teardown(() => runner.stop())
  t.ok(await areDone(db))
  t.strictSame(painted, ['counted', '7'])
})
