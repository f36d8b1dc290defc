/** Jobs: work that a worker does soon, once for many requests, and again if it failed. */

import { randomBytes } from 'node:crypto'
import type { Database } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import { isUniqueViolation } from '../database/errors.js'

/** Tries of one job; the last of them is some three hours after the first. */
export const JOB_ATTEMPTS_MAX = 6
const BACKOFF_FIRST_MS = 30_000
const BACKOFF_FACTOR = 4

/** What is to be done. There is at most one job of a kind for a subject. */
export interface JobInput {
  readonly kind: string
  /** What it is done to, such as the id of a repository. */
  readonly subject: string
  readonly delayMs: number
  /** Whether one that waits for longer is to be done that soon; else it keeps its time. */
  readonly isSooner?: boolean
}

/** A job that the caller holds, until its lease runs out or is given back. */
export interface Job {
  readonly id: number
  readonly kind: string
  readonly subject: string
  /** Counts this one. */
  readonly attempts: number
  /** Tells this hold on the job from every other one, earlier or later. */
  readonly lease: string
}

/** Who takes jobs, and how many. */
export interface Worker {
  /** The name of the machine. */
  readonly machine: string
  /** Jobs that the machine runs at once, over all of its processes. */
  readonly jobsMax: number
  readonly leaseMs: number
  /** The kinds that it takes; by default all. */
  readonly kinds?: { readonly of: readonly string[] } | { readonly without: readonly string[] }
}

/**
 * Asks for a job. One that waits already is enough, and keeps its time; one that runs now runs once
 * more afterwards, for it may have looked too early.
 */
export async function enqueueJob(db: Database, input: JobInput): Promise<void> {
  const { kind, subject } = input
  const nowMs = Date.now()
  const runAfterMs = nowMs + input.delayMs
  for (;;) {
    const found = await db('jobs')
      .where({ kind, subject })
      .update(input.isSooner ? sooner(db, runAfterMs) : { again_after: again(db, runAfterMs) })
    if (found > 0) return
    try {
      await db('jobs').insert({
        kind,
        subject,
        run_after: runAfterMs,
        attempts: 0,
        created_at: nowMs,
        again_after: null,
        ...FREE,
      })
      return
    } catch (error) {
      // Another process asked for it between the two statements, and it may be done already.
      if (!isUniqueViolation(error)) throw error
    }
  }
}

function again(db: Database, runAfterMs: number) {
  return db.raw('case when lease is null then null else ? end', [runAfterMs])
}

/** The lease is not touched, so both columns are told by what the row was before. */
function sooner(db: Database, runAfterMs: number) {
  const least = (column: string) =>
    `case when ${column} is not null and ${column} < ? then ${column} else ? end`
  const times = [runAfterMs, runAfterMs]
  return {
    again_after: db.raw(
      `case when lease is null then null else ${least('again_after')} end`,
      times,
    ),
    run_after: db.raw(
      `case when lease is null then ${least('run_after')} else run_after end`,
      times,
    ),
  }
}

const DUE_AT_ONCE = 20

/** Takes a job that is due and that nobody holds, if there is one and the machine may run more. */
export async function leaseJob(db: Database, worker: Worker): Promise<Job | undefined> {
  const nowMs = Date.now()
  const kinds = kindsOf(worker)
  const due = await selectRows<DueRow>(
    db,
    `select id, kind, subject, attempts from jobs
      where run_after <= ? and (leased_until is null or leased_until <= ?)${kinds.clause}
      order by run_after, id limit ${DUE_AT_ONCE}`,
    [nowMs, nowMs, ...kinds.bindings],
  )
  if (due.length === 0) return undefined
  // Whoever held these has died, perhaps on this machine: its slot is free again.
  await db('jobs').where('leased_until', '<=', nowMs).update(FREE)
  for (const row of due) {
    const taken = await takeJob(db, row, worker)
    if (taken === 'no slot') return undefined
    if (taken !== 'gone') return taken
  }
  return undefined
}

function kindsOf({ kinds }: Worker): {
  readonly clause: string
  readonly bindings: readonly string[]
} {
  if (kinds === undefined) return { clause: '', bindings: [] }
  const [word, bindings] = 'of' in kinds ? ['in', kinds.of] : ['not in', kinds.without]
  // MySQL knows no empty lists.
  if (bindings.length === 0) return { clause: word === 'in' ? ' and 1 = 0' : '', bindings }
  return { clause: ` and kind ${word} (${bindings.map(() => '?').join()})`, bindings }
}

interface DueRow {
  readonly id: number
  readonly kind: string
  readonly subject: string
  readonly attempts: number
}

/** The unique key of the slots is what keeps two processes of a machine from running too much. */
async function takeJob(
  db: Database,
  row: DueRow,
  worker: Worker,
): Promise<Job | 'no slot' | 'gone'> {
  const lease = randomBytes(16).toString('hex')
  const attempts = row.attempts + 1
  for (let slot = 1; slot <= worker.jobsMax; slot += 1) {
    try {
      const taken = await db('jobs')
        .where({ id: row.id, lease: null, attempts: row.attempts })
        .where('run_after', '<=', Date.now())
        .update({
          lease,
          attempts,
          leased_until: Date.now() + worker.leaseMs,
          // What was asked for until now, this run does.
          slot: `${worker.machine}/${slot}`,
          again_after: null,
        })
      return taken > 0 ? { ...row, attempts, lease } : 'gone'
    } catch (error) {
      if (!isUniqueViolation(error)) throw error
    }
  }
  return 'no slot'
}

/** Holds the job for longer. False: the lease ran out before, and somebody else may hold it. */
export async function renewLease(db: Database, job: Job, leaseMs: number): Promise<boolean> {
  return (await held(db, job).update({ leased_until: Date.now() + leaseMs })) > 0
}

/** The job is done: it goes, or waits to be run again when it was asked for meanwhile. */
export async function finishJob(db: Database, job: Job): Promise<void> {
  await endJob(db, job, null)
}

async function endJob(db: Database, job: Job, lastError: string | null): Promise<void> {
  if ((await held(db, job).whereNull('again_after').delete()) > 0) return
  // A request that came during the lease stays.
  await held(db, job)
    .whereNotNull('again_after')
    .update({
      run_after: db.ref('again_after'),
      again_after: null,
      attempts: 0,
      last_error: lastError,
      ...FREE,
    })
}

/** The job failed: it waits longer each time. False: it was given up, as it failed too often. */
export async function postponeJob(db: Database, job: Job, reason: string): Promise<boolean> {
  const lastError = reason.slice(0, REASON_CHARACTERS_MAX)
  if (job.attempts >= JOB_ATTEMPTS_MAX) {
    await endJob(db, job, lastError)
    return false
  }
  const pauseMs = BACKOFF_FIRST_MS * BACKOFF_FACTOR ** (job.attempts - 1)
  await held(db, job).update({
    run_after: Date.now() + pauseMs,
    again_after: null,
    last_error: lastError,
    ...FREE,
  })
  return true
}

const REASON_CHARACTERS_MAX = 500

/** Gives the job back unfinished, to be taken at once by somebody else. */
export async function releaseJob(db: Database, job: Job): Promise<void> {
  await held(db, job).update({ attempts: job.attempts - 1, again_after: null, ...FREE })
}

const FREE = { lease: null, leased_until: null, slot: null }

function held(db: Database, job: Job) {
  return db('jobs').where({ id: job.id, lease: job.lease })
}
