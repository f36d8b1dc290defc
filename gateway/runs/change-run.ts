/** Changes of workflow runs. Each is one transaction, which also decides what follows from it. */

import { findUserById } from '../../sql/accounts/users.js'
import { addCommitStatus, type CommitStatus } from '../../sql/code/commit-statuses.js'
import { type Database, transaction } from '../../sql/database/database.js'
import { findRepositoryById, type Repository } from '../../sql/repositories/repositories.js'
import { changeJob, listJobs, type RunJob } from '../../sql/runs/run-jobs.js'
import {
  createRun,
  findRunById,
  lockRun,
  type NewRun,
  type Run,
  updateRunStatus,
} from '../../sql/runs/runs.js'
import { isFinal } from '../../sql/runs/statuses.js'
import { retryMerges } from '../actions/code/commit-checks.js'
import type { Context } from '../request/context.js'
import { concludeJobs, decideJobs } from '../workflows/decide-jobs.js'
import { hasStatuses, newStatusOf } from './job-status.js'
import { readNeed } from './read-need.js'
import { runActions } from './run-actions.js'
import { expressionContexts } from './task-context.js'

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
  await publishChanges(context, { ...settled, repository })
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
    return run && { run, settled: await settleRun(context, trx, { run, jobs: [], repository }) }
  })
  if (started === undefined) return undefined
  await publishChanges(context, { ...started.settled, before: undefined, repository })
  return started.run
}

interface ChangedRun extends LockedRun {
  readonly repository: Repository
}

interface SettledRun {
  /** The row after the change. */
  readonly run: Run
  /** Commit statuses that were added. */
  readonly statuses: readonly CommitStatus[]
}

/** Decides what follows from a change. */
async function settleRun(
  context: Context,
  trx: Database,
  { run, jobs: before, repository }: ChangedRun,
): Promise<SettledRun> {
  const changed = await listJobs(trx, run.id)
  const hasConditions = changed.some(
    ({ status, condition }) => status === 'blocked' && condition !== undefined,
  )
  const contexts = hasConditions ? await expressionContexts(context, { run, repository }, trx) : {}
  const outputs = await outputsOf(trx, changed)
  const decisions = run.needsApproval
    ? []
    : decideJobs(changed, contexts, (key) => outputs.get(key) ?? {})
  for (const { id, from, to, reason } of decisions) {
    const stoppedAtMs = isFinal(to) ? Date.now() : undefined
    await changeJob(trx, id, { from: [from], to, reason, stoppedAtMs })
  }
  const after = decisions.length === 0 ? changed : await listJobs(trx, run.id)
  const status = after.length === 0 ? run.status : concludeJobs(after)
  if (status !== run.status) await updateRunStatus(trx, run, status)
  const settled = status === run.status ? run : ((await findRunById(trx, run.id)) ?? run)
  const statuses: CommitStatus[] = []
  if (!hasStatuses(run)) return { run: settled, statuses }
  for (const job of after) {
    const old = before.find(({ id }) => id === job.id)
    if (old?.status === job.status) continue
    statuses.push(await addCommitStatus(trx, newStatusOf(context, { run, repository, job })))
  }
  return { run: settled, statuses }
}

/** Returns the outputs of the jobs that blocked conditions may read, by their keys. */
async function outputsOf(
  trx: Database,
  jobs: readonly RunJob[],
): Promise<ReadonlyMap<string, Readonly<Record<string, string>>>> {
  const conditional = jobs.filter(
    ({ status, condition }) => status === 'blocked' && condition !== undefined,
  )
  const outputs = new Map<string, Readonly<Record<string, string>>>()
  for (const key of new Set(conditional.flatMap((job) => job.needs))) {
    outputs.set(key, (await readNeed(trx, jobs, key)).outputs)
  }
  return outputs
}

interface Published extends SettledRun {
  readonly repository: Repository
}

/** Publishes what a transaction has changed. `before` is undefined if the run is new. */
async function publishChanges(
  context: Context,
  { before, ...settled }: Published & { readonly before: Run | undefined },
): Promise<void> {
  await publishStatuses(context, settled)
  const { run, repository } = settled
  for (const action of runActions(before, run)) {
    await context.events.publish({ kind: 'run_changed', action, repository, run })
  }
}

/** Publishes commit statuses that are committed, and retries the merges that wait for them. */
async function publishStatuses(
  context: Context,
  { run, repository, statuses }: Published,
): Promise<void> {
  if (statuses.length === 0) return
  await retryMerges(context, { repositoryId: repository.id, commitId: run.reportedCommitId })
  const actor = run.actorId === undefined ? undefined : await findUserById(context.db, run.actorId)
  if (actor === undefined) return
  for (const status of statuses) {
    await context.events.publish({ kind: 'status_reported', repository, status, actor })
  }
}
