/** Finds the run or the job that the path of an operation names by its id. */

import { notFound } from '../../../conf/failures.js'
import { findJob, type RunJob } from '../../../sql/runs/run-jobs.js'
import { findRunById, type Run } from '../../../sql/runs/runs.js'
import { refuseWithoutActions } from '../../actions/repositories/has-actions.js'
import type { Grants } from '../../auth/authorize.js'
import { readId } from '../../auth/refusals.js'
import type { Context } from '../../request/context.js'

interface Named {
  readonly grant: Grants['repository']
  readonly params: Readonly<Record<string, string>>
}

/** Returns the run `{run}` of the repository. Throws `not_found`. */
export async function runOfId(context: Context, { grant, params }: Named): Promise<Run> {
  return await ownRun(context, grant, readId(params['run'] ?? '') ?? 0)
}

/** Returns the job `{job_id}` of the repository, and its run. Throws `not_found`. */
export async function jobOfId(
  context: Context,
  { grant, params }: Named,
): Promise<{ readonly run: Run; readonly job: RunJob }> {
  const job = await findJob(context.db, readId(params['job_id'] ?? '') ?? 0)
  const run = await ownRun(context, grant, job?.runId ?? 0)
  if (job === undefined) throw notFound()
  return { run, job }
}

async function ownRun(
  context: Context,
  { repository }: Grants['repository'],
  id: number,
): Promise<Run> {
  refuseWithoutActions(context, repository)
  const run = await findRunById(context.db, id)
  if (run?.repositoryId !== repository.id) throw notFound()
  return run
}
