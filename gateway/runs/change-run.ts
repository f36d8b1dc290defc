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
import { concludeJobs, decideJobs, type JobDecision } from '../workflows/decide-jobs.js'
import { applyGroups, leaveGroups, lockRunGroups } from './concurrency.js'
import { newStatusOf } from './job-status.js'
import { readNeed } from './read-need.js'
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
    return await settleRun(context, trx, { run: changed, jobs, repository })
  })
  if (settled === undefined) return false
  await publishStatuses(context, { run: found, repository, statuses: settled.statuses })
  await settleAll(context, settled.affected)
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
    return run && { run, ...(await settleRun(context, trx, { run, jobs: [], repository })) }
  })
  if (started === undefined) return undefined
  await publishStatuses(context, { ...started, repository })
  await settleAll(context, started.affected)
  return started.run
}

/** Lets runs follow a change of their groups. The sweep repeats it after a crash. */
export async function settleAll(context: Context, runIds: Iterable<number>): Promise<void> {
  for (const runId of runIds) await changeRun(context, runId, async () => true)
}

interface ChangedRun extends LockedRun {
  readonly repository: Repository
}

/** Results of a transaction, which are handled after its commit. */
interface Settled {
  /** Commit statuses that were added. */
  readonly statuses: readonly CommitStatus[]
  /** Ids of other runs that must follow a change of their concurrency group. */
  readonly affected: ReadonlySet<number>
}

/** Decides what follows from a change. */
async function settleRun(
  context: Context,
  trx: Database,
  { run, jobs: before, repository }: ChangedRun,
): Promise<Settled> {
  let after = await listJobs(trx, run.id)
  const groups = await lockRunGroups(trx, run, after)
  for (;;) {
    const decided = await decideAll(context, trx, { run, jobs: after, repository })
    const decisions = applyGroups(groups, { run, jobs: after }, decided)
    if (decisions.length === 0) break
    for (const { id, from, to, reason } of decisions) {
      const stoppedAtMs = isFinal(to) ? Date.now() : undefined
      await changeJob(trx, id, { from: [from], to, reason, stoppedAtMs })
    }
    after = await listJobs(trx, run.id)
    // Only groups make decisions from which others follow.
    if (groups.groups.size === 0) break
  }
  const status = after.length === 0 ? run.status : concludeJobs(after)
  if (status !== run.status) await updateRunStatus(trx, run, status)
  await leaveGroups(trx, groups, { run: { ...run, status }, jobs: after })
  const statuses: CommitStatus[] = []
  for (const job of after) {
    const old = before.find(({ id }) => id === job.id)
    if (old?.status === job.status) continue
    statuses.push(await addCommitStatus(trx, newStatusOf(context, { run, repository, job })))
  }
  return { statuses, affected: groups.affected }
}

/** Decides about the jobs of a run, without its concurrency groups. */
async function decideAll(
  context: Context,
  trx: Database,
  { run, jobs, repository }: ChangedRun,
): Promise<readonly JobDecision[]> {
  if (run.needsApproval) return []
  const hasConditions = jobs.some(
    ({ status, condition }) => status === 'blocked' && condition !== undefined,
  )
  const contexts = hasConditions ? await expressionContexts(context, { run, repository }, trx) : {}
  const outputs = await outputsOf(trx, jobs)
  return decideJobs(jobs, contexts, (key) => outputs.get(key) ?? {})
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

interface Published {
  readonly run: Run
  readonly repository: Repository
  readonly statuses: readonly CommitStatus[]
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
