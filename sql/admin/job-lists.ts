/** List of waiting and running jobs, for site administrators. */

import type { Database } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import { offsetOf, type Page, type Paged } from '../database/page.js'

export interface ListedJob {
  readonly id: number
  readonly kind: string
  readonly subject: string
  /** `failed`: the job waits for its next attempt. */
  readonly state: 'waiting' | 'running' | 'failed'
  readonly attempts: number
  /** Time from which the job may run, or could run if it is running. */
  readonly dueAtMs: number
  /** Error of the last failed attempt; undefined if an attempt has succeeded since. */
  readonly lastError: string | undefined
}

/** Returns all jobs, the one due first first. */
export async function listJobs(db: Database, page: Page): Promise<Paged<ListedJob>> {
  const [count] = await selectRows<{ total: number }>(db, 'select count(*) as total from jobs')
  const rows = await selectRows<JobRow>(
    db,
    `select id, kind, subject, attempts, run_after, leased_until, last_error from jobs
      order by run_after, id limit ? offset ?`,
    [page.limit, offsetOf(page)],
  )
  const nowMs = Date.now()
  return { entries: rows.map((row) => jobOf(row, nowMs)), total: count?.total ?? 0 }
}

/** Returns the times at which the jobs that run at intervals are due next, by kind. */
export async function listPeriodicDueTimes(db: Database): Promise<ReadonlyMap<string, number>> {
  const rows = await selectRows<{ kind: string; run_after: number }>(
    db,
    "select kind, run_after from jobs where subject = 'all'",
  )
  return new Map(rows.map(({ kind, run_after }) => [kind, run_after]))
}

/**
 * Makes a failed job due immediately. Returns false if there is no such job, or if it is running.
 */
export async function retryJob(db: Database, id: number): Promise<boolean> {
  const failed = db('jobs').where({ id, lease: null }).where('attempts', '>', 0)
  return (await failed.update({ run_after: Date.now() })) > 0
}

interface JobRow {
  readonly id: number
  readonly kind: string
  readonly subject: string
  readonly attempts: number
  readonly run_after: number
  readonly leased_until: number | null
  readonly last_error: string | null
}

function jobOf({ run_after, leased_until, last_error, ...row }: JobRow, nowMs: number): ListedJob {
  const isRunning = (leased_until ?? 0) > nowMs
  return {
    ...row,
    state: isRunning ? 'running' : row.attempts > 0 ? 'failed' : 'waiting',
    dueAtMs: run_after,
    lastError: last_error ?? undefined,
  }
}
