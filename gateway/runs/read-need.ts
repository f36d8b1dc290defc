/** Results and outputs of jobs, as the jobs that need them get them. */

import type { Database } from '../../sql/database/database.js'
import type { RunJob } from '../../sql/runs/run-jobs.js'
import { isFinal, type RunStatus } from '../../sql/runs/statuses.js'
import { mergeOutputs } from '../../sql/runs/tasks.js'
import { concludeJobs } from '../workflows/decide-jobs.js'

export interface Need {
  readonly status: RunStatus
  /** Outputs by their names; empty until all jobs with the key have ended. */
  readonly outputs: Readonly<Record<string, string>>
}

/** Returns the status and the outputs of the jobs of a run that have this key. */
export async function readNeed(db: Database, jobs: readonly RunJob[], key: string): Promise<Need> {
  const needed = jobs.filter((job) => job.key === key)
  const status = concludeJobs(needed)
  if (!isFinal(status)) return { status, outputs: {} }
  const taskIds = needed.flatMap((job) => tasksOf(jobs, job))
  return { status, outputs: Object.fromEntries(await mergeOutputs(db, taskIds)) }
}

/** Returns the last task of a job, or those of the jobs that it has become. */
function tasksOf(jobs: readonly RunJob[], { id, taskId }: RunJob): readonly number[] {
  if (taskId !== undefined) return [taskId]
  return jobs.filter(({ parentId }) => parentId === id).flatMap((job) => tasksOf(jobs, job))
}
