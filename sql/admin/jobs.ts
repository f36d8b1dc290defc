/** Queue of background jobs: deduplicated by kind and subject, leased to workers, and retried. */

import { randomBytes } from 'node:crypto'
import type { Database } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import { isUniqueViolation } from '../database/errors.js'

/** Attempts of a job; the last one is about three hours after the first. */
export const JOB_ATTEMPTS_MAX = 6
const BACKOFF_FIRST_MS = 30_000
const BACKOFF_FACTOR = 4

/** Job to enqueue. There is at most one job for each kind and subject. */
export interface JobInput {
  readonly kind: string
  /** Object of the job, such as the id of a repository. */
  readonly subject: string
  readonly delayMs: number
  /** True if a waiting job is moved to an earlier time; otherwise it keeps its time. */
  readonly isSooner?: boolean
}

/** Job that the caller holds until its lease expires or is released. */
export interface Job {
  readonly id: number
  readonly kind: string
  readonly subject: string
  /** Number of attempts, including this one. */
  readonly attempts: number
  /** Random id of this lease; earlier and later leases of the same job have other ids. */
  readonly lease: string
}

/** Process that leases jobs, and its limits. */
export interface Worker {
  /** Name of the machine. */
  readonly machine: string
  /** Number of jobs that all processes of the machine may run concurrently. */
  readonly jobsMax: number
  readonly leaseMs: number
  /** Kinds of jobs that the worker takes; undefined for all. */
  readonly kinds?: { readonly of: readonly string[] } | { readonly without: readonly string[] }
}

/**
 * Enqueues a job. A waiting job for the same kind and subject is kept, with its time unless
 * `isSooner` is set. A running one runs once more afterwards, because it may have read its data too
 * early.
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
      // Another process inserted the job between the two statements, and may have finished it
      // already.
      if (!isUniqueViolation(error)) throw error
    }
  }
}

function again(db: Database, runAfterMs: number) {
  return db.raw('case when lease is null then null else ? end', [runAfterMs])
}

/** Returns both columns computed from the old row: the statement does not change `lease`. */
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

const DUE_ROWS_MAX = 20

/**
 * Leases a due job that no worker holds; undefined if there is none or if all slots of the machine
 * are in use.
 */
export async function leaseJob(db: Database, worker: Worker): Promise<Job | undefined> {
  const nowMs = Date.now()
  const kinds = kindsOf(worker)
  const due = await selectRows<DueRow>(
    db,
    `select id, kind, subject, attempts from jobs
      where run_after <= ? and (leased_until is null or leased_until <= ?)${kinds.clause}
      order by run_after, id limit ${DUE_ROWS_MAX}`,
    [nowMs, nowMs, ...kinds.bindings],
  )
  if (due.length === 0) return undefined
  // The workers that held these jobs have died, perhaps on this machine: this frees their slots.
  await db('jobs').where('leased_until', '<=', nowMs).update(FREE)
  for (const row of due) {
    const taken = await takeJob(db, row, worker)
    if (taken === 'no slot') return undefined
    if (taken !== 'lost') return taken
  }
  return undefined
}

function kindsOf({ kinds }: Worker): {
  readonly clause: string
  readonly bindings: readonly string[]
} {
  if (kinds === undefined) return { clause: '', bindings: [] }
  const [word, bindings] = 'of' in kinds ? ['in', kinds.of] : ['not in', kinds.without]
  // MySQL does not support empty lists.
  if (bindings.length === 0) return { clause: word === 'in' ? ' and 1 = 0' : '', bindings }
  return { clause: ` and kind ${word} (${bindings.map(() => '?').join()})`, bindings }
}

interface DueRow {
  readonly id: number
  readonly kind: string
  readonly subject: string
  readonly attempts: number
}

/**
 * Leases one job in the first free slot. The unique key of the slots enforces the limit across all
 * processes of a machine.
 */
async function takeJob(
  db: Database,
  row: DueRow,
  worker: Worker,
): Promise<Job | 'no slot' | 'lost'> {
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
          // This run covers all requests made so far.
          slot: `${worker.machine}/${slot}`,
          again_after: null,
        })
      return taken > 0 ? { ...row, attempts, lease } : 'lost'
    } catch (error) {
      if (!isUniqueViolation(error)) throw error
    }
  }
  return 'no slot'
}

/**
 * Extends the lease of a job. Returns false if it has expired; another worker may then hold the
 * job.
 */
export async function renewLease(db: Database, job: Job, leaseMs: number): Promise<boolean> {
  return (await held(db, job).update({ leased_until: Date.now() + leaseMs })) > 0
}

/** Deletes a finished job, or schedules it again if it was enqueued while it ran. */
export async function finishJob(db: Database, job: Job): Promise<void> {
  await endJob(db, job, null)
}

async function endJob(db: Database, job: Job, lastError: string | null): Promise<void> {
  if ((await held(db, job).whereNull('again_after').delete()) > 0) return
  // Keeps a request that was made while the job ran.
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

/**
 * Schedules a failed job again, after a longer delay each time. Returns false after
 * JOB_ATTEMPTS_MAX attempts: the job is then deleted, or kept if it was enqueued while it ran.
 */
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

/** Releases an unfinished job, so that any worker can take it immediately. */
export async function releaseJob(db: Database, job: Job): Promise<void> {
  await held(db, job).update({ attempts: job.attempts - 1, again_after: null, ...FREE })
}

const FREE = { lease: null, leased_until: null, slot: null }

function held(db: Database, job: Job) {
  return db('jobs').where({ id: job.id, lease: job.lease })
}
