/** Attempts of a workflow run: new jobs replace earlier ones, which keep their tasks and logs. */

import type { Database } from '../database/database.js'
import { nextPosition, type RunJob } from './run-jobs.js'
import type { Run } from './runs.js'
import { isFinal } from './statuses.js'

export interface NewAttempt {
  readonly run: Run
  /**
   * Jobs of the newest attempt that do not belong to the new one. Those of the file are replaced by
   * new jobs; those that deferred jobs had become are not, because these are planned again.
   */
  readonly repeated: readonly RunJob[]
  /** User who asked for the attempt. */
  readonly actorId: number
}

/** Columns that a new job has in common with the one that it replaces. */
const REPEATED = `run_id, job_key, name, environment, needs, labels, step_names, job_condition, payload,
  permissions, fails_fast, max_parallel, continues_on_error, is_deferred, plan_id,
  concurrency_group, concurrency_key, concurrency_cancels`

/**
 * Begins the next attempt of a run that the transaction has locked. The new jobs are blocked. If
 * the run had ended, it starts again, and enters its concurrency group again.
 */
export async function beginAttempt(
  trx: Database,
  { run, repeated, actorId }: NewAttempt,
): Promise<void> {
  const { id, attempt, status, startedAtMs } = run
  await trx('workflow_runs')
    .where({ id })
    .update({
      attempt: attempt + 1,
      rerun_actor_id: actorId,
      started_at: isFinal(status) ? null : (startedAtMs ?? null),
      group_state: isFinal(status) ? 'outside' : undefined,
    })
  const ids = repeated.map((job) => job.id)
  await trx('workflow_jobs').whereIn('id', ids).update({ last_attempt: attempt })
  const place = 'coalesce(place, position)'
  await trx.raw(
    `insert into workflow_jobs (${REPEATED}, attempt, place, position, status, reason, created_at)
      select ${REPEATED}, ?, ${place}, ${place} + ?, 'blocked', '', ?
      from workflow_jobs where run_id = ? and last_attempt = ? and parent_id is null
      order by ${place}`,
    [attempt + 1, await nextPosition(trx, id), Date.now(), id, attempt],
  )
}
