/** A job is run once for several requests, by one worker at a time, and retried after an error. */

import { setTimeout as sleep } from 'node:timers/promises'
import { type Test, t } from 'tap'
import {
  enqueueJob,
  finishJob,
  JOB_ATTEMPTS_MAX,
  type Job,
  leaseJob,
  postponeJob,
  releaseJob,
  renewLease,
} from '../../../sql/admin/jobs.js'
import type { Database } from '../../../sql/database/database.js'
import { selectRows } from '../../../sql/database/dialect.js'
import { migrate } from '../../../sql/database/migrate.js'
import { forEachDatabase, forEachMigrated, openForTest } from '../../helpers/databases.js'
import { startSqlChild } from '../../helpers/sql-child.js'
import { isFullSize } from '../../helpers/test-size.js'

const PROCESSES = isFullSize ? ['a', 'b', 'c', 'd'] : ['a', 'b']
const WORKER = { machine: 'one', jobsMax: 1, leaseMs: 60_000 }

function ask(db: Database, subject = '7', delayMs = 0): Promise<void> {
  return enqueueJob(db, { kind: 'sweep', subject, delayMs })
}

async function take(t: Test, db: Database, worker = WORKER): Promise<Job> {
  const job = await leaseJob(db, worker)
  if (job === undefined) throw new Error('no job was had')
  t.match(job, { kind: 'sweep', lease: /^[0-9a-f]{32}$/ })
  return job
}

/** Returns the queued jobs with the seconds until each is due. */
async function waiting(db: Database) {
  const rows = await selectRows<{ subject: string; run_after: number; lease: string | null }>(
    db,
    'select subject, run_after, lease from jobs order by id',
  )
  return rows.map(({ subject, run_after, lease }) => ({
    subject,
    inSeconds: Math.round((run_after - Date.now()) / 1_000),
    isHeld: lease !== null,
  }))
}

await forEachMigrated(
  t,
  'several requests become one job, due at the time of the earliest',
  async (t, db) => {
    await ask(db, '7', 100_000)
    await Promise.all([50_000, 200_000, 0].map((delayMs) => ask(db, '7', delayMs)))
    t.strictSame(await waiting(db), [{ subject: '7', inSeconds: 100, isHeld: false }])
    t.equal(await leaseJob(db, WORKER), undefined, 'the job is not due')
    await ask(db, '8')
    t.equal((await take(t, db)).subject, '8', 'another subject is another job')
  },
)

await forEachMigrated(t, 'a job requested while it runs is run once more', async (t, db) => {
  await ask(db)
  const first = await take(t, db)
  await Promise.all([1, 2, 3].map(() => ask(db)))
  t.equal(await leaseJob(db, { ...WORKER, machine: 'two' }), undefined, 'not while it runs')
  await finishJob(db, first)
  const second = await take(t, db)
  t.equal(second.attempts, 1, 'it is a new job')
  await finishJob(db, second)
  t.strictSame(await waiting(db), [])
  await ask(db)
  t.equal((await waiting(db)).length, 1)
})

await forEachMigrated(
  t,
  'an expired lease is free, and its holder can no longer finish the job',
  async (t, db) => {
    await ask(db)
    const dead = await take(t, db, { ...WORKER, leaseMs: 1 })
    await ask(db)
    await sleep(5)
    const alive = await take(t, db)
    t.equal(alive.attempts, 2)
    t.equal(await renewLease(db, dead, 60_000), false)
    t.equal(await renewLease(db, alive, 60_000), true)
    for (const end of [finishJob, releaseJob]) await end(db, dead)
    await postponeJob(db, dead, 'too late')
    t.match(
      await waiting(db),
      [{ isHeld: true }],
      'the holder of the expired lease changes nothing',
    )
    await finishJob(db, alive)
    t.strictSame(await waiting(db), [], 'the request made in between is fulfilled too')
  },
)

await forEachMigrated(
  t,
  'a job that fails is retried after growing pauses and then given up',
  async (t, db) => {
    await ask(db)
    const pauses: number[] = []
    for (let attempt = 1; ; attempt += 1) {
      const job = await take(t, db)
      t.equal(job.attempts, attempt)
      if (!(await postponeJob(db, job, 'no luck'))) break
      pauses.push((await waiting(db))[0]?.inSeconds ?? 0)
      await ask(db)
      t.equal(await leaseJob(db, WORKER), undefined, 'a request does not shorten the pause')
      await db('jobs').update({ run_after: 0 })
    }
    t.strictSame(pauses, [30, 120, 480, 1_920, 7_680])
    t.equal(pauses.length + 1, JOB_ATTEMPTS_MAX)
    t.strictSame(await waiting(db), [])
  },
)

await forEachMigrated(
  t,
  'a released job is available immediately, and the attempt is not counted',
  async (t, db) => {
    await ask(db)
    await releaseJob(db, await take(t, db))
    t.equal((await take(t, db, { ...WORKER, machine: 'two' })).attempts, 1)
  },
)

await forEachMigrated(t, 'a machine leases no more jobs than its limit', async (t, db) => {
  for (let subject = 0; subject < 6; subject += 1) await ask(db, String(subject))
  const two = { ...WORKER, jobsMax: 2 }
  const taken = await Promise.all(Array.from({ length: 8 }, () => leaseJob(db, two)))
  const jobs = taken.filter((job) => job !== undefined)
  t.equal(jobs.length, 2)
  t.equal(new Set(jobs.map(({ subject }) => subject)).size, 2)
  t.ok(await leaseJob(db, { ...two, machine: 'two' }), 'another machine has free slots')
  for (const job of jobs) await finishJob(db, job)
  t.ok(await leaseJob(db, two), 'this machine has a free slot again')
})

await forEachMigrated(t, 'the slot of a dead process becomes free', async (t, db) => {
  await ask(db, 'dead')
  await take(t, db, { ...WORKER, leaseMs: 1 })
  await ask(db, 'next')
  await sleep(5)
  await db('jobs').where({ subject: 'next' }).update({ run_after: 0 })
  t.equal((await take(t, db)).subject, 'next')
  t.equal(await leaseJob(db, WORKER), undefined)
})

await forEachDatabase(
  t,
  'several processes share the jobs, and each job is run once',
  async (t, location) => {
    const db = await openForTest(t, location)
    await migrate(db)
    for (let subject = 0; subject < 60; subject += 1) await ask(db, String(subject))
    const children = PROCESSES.map((name) => startSqlChild('work', location, name))
    const done = await Promise.all(children.map((child) => child.result))
    t.equal(
      done.reduce((sum, count) => sum + count, 0),
      60,
      `${done}`,
    )
    t.strictSame(await waiting(db), [])
  },
)

await forEachDatabase(
  t,
  'requests concurrent with the end of a run are not lost',
  async (t, location) => {
    const one = await openForTest(t, location)
    const two = await openForTest(t, location)
    await migrate(one)
    for (let round = 0; round < 40; round += 1) {
      await ask(one)
      const job = await take(t, one)
      await Promise.all([finishJob(one, job), ask(two), ask(two)])
      await finishJob(one, await take(t, one))
      await finishAll(one)
    }
  },
)

/** Finishes the remaining job, because a request after the end of the first run is a new job. */
async function finishAll(db: Database): Promise<void> {
  for (let job = await leaseJob(db, WORKER); job !== undefined; job = await leaseJob(db, WORKER)) {
    await finishJob(db, job)
  }
}

await forEachMigrated(t, 'a worker of some kinds leaves other kinds to others', async (t, db) => {
  await ask(db, '7')
  t.equal(await leaseJob(db, { ...WORKER, kinds: { of: ['paint', 'wash'] } }), undefined)
  t.equal(await leaseJob(db, { ...WORKER, kinds: { without: ['sweep'] } }), undefined)
  const job = await leaseJob(db, { ...WORKER, kinds: { without: ['paint'] } })
  if (job === undefined) throw new Error('no job was had')
  const input = { kind: 'sweep', subject: '7', isSooner: true }
  for (const delayMs of [50_000, 200_000, 100_000]) await enqueueJob(db, { ...input, delayMs })
  await finishJob(db, job)
  t.match(await waiting(db), [{ inSeconds: 50 }], 'the earliest request counts')
})
