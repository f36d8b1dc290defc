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
import {
  concludeJobs,
  decideFamilies,
  decideJobs,
  type JobDecision,
} from '../workflows/decide-jobs.js'
import { newStatusOf } from './job-status.js'
import { readNeed } from './read-need.js'
import { conditionContexts } from './task-context.js'

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
  await followUp(context, { ...settled, run: found, repository })
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
  await followUp(context, { ...started, repository })
  return started.run
}

interface ChangedRun extends LockedRun {
  readonly repository: Repository
}

/** Consequences of a change after its transaction. */
interface Settled {
  readonly statuses: readonly CommitStatus[]
  /** Ids of the deferred jobs that are to be planned. */
  readonly toPlan: readonly number[]
}

/** Decides what follows from a change within its transaction. */
async function settleRun(
  context: Context,
  trx: Database,
  { run, jobs: before, repository }: ChangedRun,
): Promise<Settled> {
  const waiting = new Set<number>()
  let after = await listJobs(trx, run.id)
  for (let isSettled = false; !isSettled; ) {
    const ends = decideFamilies(after)
    after = await applyDecisions(trx, run, ends, after)
    const decisions = await decisionsOf(context, trx, { run, jobs: after, repository })
    after = await applyDecisions(trx, run, decisions, after)
    for (const { id, to } of decisions) if (to === 'waiting') waiting.add(id)
    // Jobs that were skipped now may end the job that they come from.
    isSettled = decisions.length === 0 || after.every(({ parentId }) => parentId === undefined)
  }
  const parents = new Set(after.map(({ parentId }) => parentId))
  const leaves = after.filter(({ id }) => !parents.has(id))
  const status = leaves.length === 0 ? run.status : concludeJobs(leaves)
  if (status !== run.status) await updateRunStatus(trx, run, status)
  const statuses: CommitStatus[] = []
  for (const job of after) {
    const old = before.find(({ id }) => id === job.id)
    if (old?.status === job.status) continue
    statuses.push(await addCommitStatus(trx, newStatusOf(context, { run, repository, job })))
  }
  const toPlan = after.filter(({ id, isDeferred }) => isDeferred && waiting.has(id))
  return { statuses, toPlan: toPlan.map(({ id }) => id) }
}

/** Applies decisions, and returns the jobs after them. */
async function applyDecisions(
  trx: Database,
  run: Run,
  decisions: readonly JobDecision[],
  jobs: readonly RunJob[],
): Promise<readonly RunJob[]> {
  for (const { id, from, to, reason } of decisions) {
    const stoppedAtMs = isFinal(to) ? Date.now() : undefined
    // Without a reason, that of an earlier change stays.
    const why = reason === '' ? undefined : reason
    await changeJob(trx, id, { from: [from], to, reason: why, stoppedAtMs })
  }
  return decisions.length === 0 ? jobs : await listJobs(trx, run.id)
}

/** Returns the decisions about blocked jobs; none while the run waits for approval. */
async function decisionsOf(
  context: Context,
  trx: Database,
  { run, jobs, repository }: ChangedRun,
): Promise<readonly JobDecision[]> {
  if (run.needsApproval) return []
  const conditional = jobs.filter(
    ({ status, condition }) => status === 'blocked' && condition !== undefined,
  )
  const planIds = conditional.flatMap(({ planId }) => planId ?? [])
  const contextsOf =
    conditional.length === 0
      ? () => ({})
      : await conditionContexts(context, { run, repository }, planIds, trx)
  const outputs = await outputsOf(trx, jobs, conditional)
  return decideJobs(jobs, contextsOf, (key) => outputs.get(key) ?? {})
}

/** Returns the outputs of the jobs that blocked conditions may read, by their keys. */
async function outputsOf(
  trx: Database,
  jobs: readonly RunJob[],
  conditional: readonly RunJob[],
): Promise<ReadonlyMap<string, Readonly<Record<string, string>>>> {
  const outputs = new Map<string, Readonly<Record<string, string>>>()
  for (const key of new Set(conditional.flatMap((job) => job.needs))) {
    outputs.set(key, (await readNeed(trx, jobs, key)).outputs)
  }
  return outputs
}

interface SettledRun extends Settled {
  readonly run: Run
  readonly repository: Repository
}

/**
 * Enqueues the planning of deferred jobs, publishes commit statuses that are committed, and retries
 * the merges that wait for them.
 */
async function followUp(
  context: Context,
  { run, repository, statuses, toPlan }: SettledRun,
): Promise<void> {
  for (const id of toPlan) await context.upkeep.enqueueJobPlan(id)
  if (statuses.length === 0) return
  await retryMerges(context, { repositoryId: repository.id, commitId: run.reportedCommitId })
  const actor = run.actorId === undefined ? undefined : await findUserById(context.db, run.actorId)
  if (actor === undefined) return
  for (const status of statuses) {
    await context.events.publish({ kind: 'status_reported', repository, status, actor })
  }
}
