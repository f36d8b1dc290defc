/** Changes of workflow runs. Each is one transaction, which also decides what follows from it. */

import { findUserById } from '../../sql/accounts/users.js'
import { type Database, transaction } from '../../sql/database/database.js'
import { findRepositoryById, type Repository } from '../../sql/repositories/repositories.js'
import { listJobs, type RunJob } from '../../sql/runs/run-jobs.js'
import { createRun, findRunById, lockRun, type NewRun, type Run } from '../../sql/runs/runs.js'
import { retryMerges } from '../actions/code/commit-checks.js'
import type { Context } from '../request/context.js'
import { runActions } from './run-actions.js'
import { type Settled, settleRun } from './settle-run.js'

/** A run that is locked by a transaction, with its jobs before the change. */
export interface LockedRun {
  readonly run: Run
  readonly jobs: readonly RunJob[]
}

/**
 * Runs `change` in a transaction that excludes other changes of the run. If it returns true, jobs
 * whose needs have ended then wait for a runner or are skipped, the status of the run follows from
 * its jobs, and commit statuses are added for the jobs that have changed. Returns false if `change`
 * does, or if the run does not exist.
 */
export async function changeRun(
  context: Context,
  runId: number,
  change: (trx: Database, locked: LockedRun) => Promise<boolean>,
): Promise<boolean> {
  const found = await findRunById(context.db, runId)
  if (found === undefined) return false
  const repository = await findRepositoryById(context.db, found.repositoryId)
  if (repository === undefined) return false
  const settled = await transaction(context.db, async (trx) => {
    const run = await lockRun(trx, runId)
    if (run === undefined) return undefined
    const jobs = await listJobs(trx, runId)
    if (!(await change(trx, { run, jobs }))) return undefined
    const changed = (await findRunById(trx, runId)) ?? run
    const after = await settleRun(context, trx, { run: changed, jobs, repository })
    return { ...after, before: run }
  })
  if (settled === undefined) return false
  await followUp(context, { ...settled, repository })
  return true
}

/** Creates a run whose jobs wait for a runner, unless the event has started the workflow before. */
export async function startRun(
  context: Context,
  repository: Repository,
  input: NewRun,
): Promise<Run | undefined> {
  const started = await transaction(context.db, async (trx) => {
    const run = await createRun(trx, input)
    return run && (await settleRun(context, trx, { run, jobs: [], repository }))
  })
  if (started === undefined) return undefined
  await followUp(context, { ...started, before: undefined, repository })
  return started.run
}

interface SettledRun extends Settled {
  /** The row before the change; undefined if the run is new. */
  readonly before: Run | undefined
  readonly repository: Repository
}

/** Lets runs follow a change of their groups. The sweep repeats it after a crash. */
export async function settleAll(context: Context, runIds: Iterable<number>): Promise<void> {
  for (const runId of runIds) await changeRun(context, runId, async () => true)
}

/**
 * Enqueues the planning of deferred jobs, publishes what a transaction has changed, and lets other
 * runs follow a change of their groups.
 */
async function followUp(
  context: Context,
  { before, toPlan, affected, ...settled }: SettledRun,
): Promise<void> {
  for (const id of toPlan) await context.upkeep.enqueueJobPlan(id)
  await publishStatuses(context, settled)
  const { run, repository, changed } = settled
  for (const action of runActions(before, run)) {
    await context.events.publish({ kind: 'run_changed', action, repository, run })
  }
  if (changed.length > 0) {
    await context.events.publish({ kind: 'jobs_changed', repository, run, jobs: changed })
  }
  await settleAll(context, affected)
}

/** Commit statuses of jobs that were added in a transaction. */
export interface AddedStatuses extends Pick<SettledRun, 'repository' | 'statuses'> {
  readonly run: Pick<Run, 'reportedCommitId' | 'actorId'>
}

/** Publishes commit statuses that are committed, and retries the merges that wait for them. */
export async function publishStatuses(
  context: Context,
  { run, repository, statuses }: AddedStatuses,
): Promise<void> {
  if (statuses.length === 0) return
  await retryMerges(context, { repositoryId: repository.id, commitId: run.reportedCommitId })
  const actor = run.actorId === undefined ? undefined : await findUserById(context.db, run.actorId)
  if (actor === undefined) return
  for (const status of statuses) {
    await context.events.publish({ kind: 'status_reported', repository, status, actor })
  }
}
