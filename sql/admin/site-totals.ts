/** State of the whole site for monitoring: repositories, stored bytes, queues and backups. */

import { setImmediate as nextTick } from 'node:timers/promises'
import type { Database } from '../database/database.js'
import { isMysql, selectRows } from '../database/dialect.js'
import { findLastBackups, type LastBackups } from './backups.js'

export interface SiteTotals {
  readonly repositories: number
  /** Size of all repositories and wikis, as measured at their last maintenance. */
  readonly repositoryBytes: number
  /** Size of all stored files of packages, releases, LFS and artifacts; shared bytes count once. */
  readonly blobBytes: number
  readonly databaseBytes: number
  /** Background jobs of the server that are due, running, or wait after a failed attempt. */
  readonly jobs: QueueTotals & { readonly failed: number }
  /** Jobs of workflows that wait for a runner, or that a runner has. */
  readonly workflowJobs: QueueTotals
  readonly backups: LastBackups
}

interface QueueTotals {
  readonly waiting: number
  readonly running: number
  /** Time for which the job that has waited longest waits; 0 if no job waits. */
  readonly oldestMs: number
}

/** Counts the site with one query for each number; only rows of blobs are read in parts. */
export async function readSiteTotals(db: Database): Promise<SiteTotals> {
  const [repositories] = await selectRows<{ total: number; kib: number | null }>(
    db,
    'select count(*) as total, sum(size_kib + wiki_size_kib) as kib from repositories',
  )
  return {
    repositories: Number(repositories?.total ?? 0),
    repositoryBytes: Number(repositories?.kib ?? 0) * 1024,
    blobBytes: await sumOfBlobs(db),
    databaseBytes: await sizeOfDatabase(db),
    jobs: await countJobs(db),
    workflowJobs: await countWorkflowJobs(db),
    backups: await findLastBackups(db),
  }
}

/** Blobs per query, because a query of SQLite occupies the event loop until its end. */
const BLOBS_PER_QUERY = 20_000

async function sumOfBlobs(db: Database): Promise<number> {
  const [newest] = await selectRows<{ id: number | null }>(db, 'select max(id) as id from blobs')
  let bytes = 0
  for (let from = 0; from < Number(newest?.id ?? 0); from += BLOBS_PER_QUERY) {
    const [part] = await selectRows<{ bytes: number | null }>(
      db,
      'select sum(bytes) as bytes from blobs where id > ? and id <= ?',
      [from, from + BLOBS_PER_QUERY],
    )
    bytes += Number(part?.bytes ?? 0)
    await nextTick()
  }
  return bytes
}

async function sizeOfDatabase(db: Database): Promise<number> {
  const [row] = await selectRows<{ bytes: number | null }>(
    db,
    isMysql(db)
      ? `select sum(data_length + index_length) as bytes from information_schema.tables
          where table_schema = database()`
      : `select page_count * page_size as bytes from pragma_page_count(), pragma_page_size()`,
  )
  return Number(row?.bytes ?? 0)
}

async function countJobs(db: Database): Promise<SiteTotals['jobs']> {
  const nowMs = Date.now()
  const isRunning = 'leased_until > ?'
  const isDue = '(leased_until is null or leased_until <= ?) and run_after <= ?'
  const isFailed = '(leased_until is null or leased_until <= ?) and attempts > 0 and run_after > ?'
  const [row] = await selectRows<Record<'waiting' | 'running' | 'failed' | 'since', number | null>>(
    db,
    `select sum(case when ${isRunning} then 1 else 0 end) as running,
        sum(case when ${isDue} then 1 else 0 end) as waiting,
        sum(case when ${isFailed} then 1 else 0 end) as failed,
        min(case when ${isDue} then run_after end) as since
      from jobs`,
    [nowMs, nowMs, nowMs, nowMs, nowMs, nowMs, nowMs],
  )
  return { ...queueOf(row, nowMs), failed: Number(row?.failed ?? 0) }
}

async function countWorkflowJobs(db: Database): Promise<QueueTotals> {
  const [row] = await selectRows<Record<'waiting' | 'running' | 'since', number | null>>(
    db,
    `select sum(case when status = 'waiting' then 1 else 0 end) as waiting,
        sum(case when status = 'running' then 1 else 0 end) as running,
        min(case when status = 'waiting' then waiting_at end) as since
      from workflow_jobs where status in ('waiting', 'running')`,
  )
  return queueOf(row, Date.now())
}

function queueOf(
  row: Readonly<Record<'waiting' | 'running' | 'since', number | null>> | undefined,
  nowMs: number,
): QueueTotals {
  const since = row?.since
  return {
    waiting: Number(row?.waiting ?? 0),
    running: Number(row?.running ?? 0),
    oldestMs: since === null || since === undefined ? 0 : Math.max(0, nowMs - Number(since)),
  }
}
