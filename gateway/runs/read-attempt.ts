/** An attempt of a run: its jobs, and the status that follows from them. */

import type { Database } from '../../sql/database/database.js'
import { listJobs, type RunJob } from '../../sql/runs/run-jobs.js'
import type { Run } from '../../sql/runs/runs.js'
import type { RunStatus } from '../../sql/runs/statuses.js'
import { concludeJobs } from '../workflows/decide-jobs.js'

export interface Attempt {
  readonly jobs: readonly RunJob[]
  readonly status: RunStatus
}

/** Reads an attempt; undefined means the newest one. */
export async function readAttempt(
  db: Database,
  run: Run,
  attempt: number | undefined,
): Promise<Attempt> {
  const jobs = await listJobs(db, run.id, attempt)
  return { jobs, status: attempt === undefined ? run.status : concludeJobs(jobs) }
}
