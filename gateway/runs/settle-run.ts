/** Consequences of a change of a run, decided within its transaction. */

import { addCommitStatus, type CommitStatus } from '../../sql/code/commit-statuses.js'
import type { Database } from '../../sql/database/database.js'
import type { Repository } from '../../sql/repositories/repositories.js'
import { changeJob, listJobs, type RunJob } from '../../sql/runs/run-jobs.js'
import { findRunById, type Run, updateRunStatus } from '../../sql/runs/runs.js'
import { isFinal } from '../../sql/runs/statuses.js'
import type { Context } from '../request/context.js'
import {
  concludeJobs,
  decideFamilies,
  decideJobs,
  type JobDecision,
} from '../workflows/decide-jobs.js'
import { applyGroups, leaveGroups, lockRunGroups } from './concurrency.js'
import { hasStatuses, newStatusOf } from './job-status.js'
import { readNeed } from './read-need.js'
import { conditionContexts } from './task-context.js'

/** A run that a transaction has changed. */
export interface ChangedRun {
  readonly run: Run
  /** The jobs before the change. */
  readonly jobs: readonly RunJob[]
  readonly repository: Repository
}

/** Consequences of a change after its transaction. */
export interface Settled {
  /** The row after the change. */
  readonly run: Run
  /** New jobs, and those with another status; a job that becomes others is left out. */
  readonly changed: readonly RunJob[]
  /** Commit statuses that were added. */
  readonly statuses: readonly CommitStatus[]
  /** Ids of the deferred jobs that are to be planned. */
  readonly toPlan: readonly number[]
  /** Ids of other runs that must follow a change of their concurrency group. */
  readonly affected: ReadonlySet<number>
}

/** Decides what follows from a change within its transaction. */
export async function settleRun(
  context: Context,
  trx: Database,
  { run, jobs: before, repository }: ChangedRun,
): Promise<Settled> {
  const waiting = new Set<number>()
  let after = await listJobs(trx, run.id)
  const groups = await lockRunGroups(trx, run, after)
  for (let isSettled = false; !isSettled; ) {
    const ends = decideFamilies(after)
    after = await applyDecisions(trx, run, ends, after)
    const decided = await decisionsOf(context, trx, { run, jobs: after, repository })
    const decisions = applyGroups(groups, { run, jobs: after }, decided)
    after = await applyDecisions(trx, run, decisions, after)
    for (const { id, to } of decisions) if (to === 'waiting') waiting.add(id)
    // More decisions follow only from groups, and from jobs that end the one that they come from.
    const isPlain =
      groups.groups.size === 0 && after.every(({ parentId }) => parentId === undefined)
    isSettled = decisions.length === 0 || isPlain
  }
  const parents = new Set(after.map(({ parentId }) => parentId))
  const leaves = after.filter(({ id }) => !parents.has(id))
  const status = leaves.length === 0 ? run.status : concludeJobs(leaves)
  if (status !== run.status) await updateRunStatus(trx, run, status)
  await leaveGroups(trx, groups, { run: { ...run, status }, jobs: after })
  const statusBefore = new Map(before.map(({ id, status }) => [id, status]))
  const changed = after.filter(({ id, status }) => statusBefore.get(id) !== status)
  const statuses: CommitStatus[] = []
  for (const job of hasStatuses(run) ? changed : []) {
    statuses.push(await addCommitStatus(trx, newStatusOf(context, { run, repository, job })))
  }
  const toPlan = after.filter(({ id, isDeferred }) => isDeferred && waiting.has(id))
  const settled = status === run.status ? run : ((await findRunById(trx, run.id)) ?? run)
  return {
    run: settled,
    changed: changed.filter(
      ({ id, isDeferred, status }) => !parents.has(id) && (!isDeferred || isFinal(status)),
    ),
    statuses,
    toPlan: toPlan.map(({ id }) => id),
    affected: groups.affected,
  }
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
