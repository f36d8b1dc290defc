/**
 * Concurrency groups while a run is settled. A transaction locks one run, then its repository, then
 * the groups of the run and of its jobs, in the order of their keys. It never waits for another
 * run, so no two transactions wait for each other: a change that other runs must follow is stored
 * in the group, and these runs are settled after the commit, each in a transaction of its own. A
 * run that enters a group while its active member leaves it waits for the lock: it sees that the
 * group is free, or has become the pending member that the other one makes active.
 */

import type { Database } from '../../sql/database/database.js'
import {
  type Group,
  lockGroups,
  type Member,
  type Membership,
  setMemberState,
  writeGroups,
} from '../../sql/runs/groups.js'
import type { RunJob } from '../../sql/runs/run-jobs.js'
import type { Run } from '../../sql/runs/runs.js'
import { isFinal } from '../../sql/runs/statuses.js'
import type { JobDecision } from '../workflows/decide-jobs.js'

/** Decision of a group about a member: it may begin or continue, it waits, or it is cancelled. */
type Verdict = 'free' | 'waits' | 'cancelled'

/** The locked groups of a run and its jobs. */
export interface RunGroups {
  readonly groups: Map<string, Group>
  readonly changed: Set<string>
  /** Ids of members that have entered a group during this transaction. */
  readonly entered: Set<number>
  /** Ids of the runs that must follow a change of a group. */
  readonly affected: Set<number>
}

/** Locks the groups that a run and its jobs may enter, or have entered. */
export async function lockRunGroups(
  trx: Database,
  run: Run,
  jobs: readonly RunJob[],
): Promise<RunGroups> {
  const own = run.membership?.state === 'left' ? undefined : run.membership
  const others = jobs.map(({ membership, status }) =>
    membership?.state === 'entered' || !isFinal(status) ? membership : undefined,
  )
  const keys = [own, ...others].flatMap((membership) => membership?.key ?? [])
  const groups = await lockGroups(trx, run.repositoryId, keys)
  return { groups, changed: new Set(), entered: new Set(), affected: new Set() }
}

/**
 * Applies the groups of a run and of its jobs to decisions about the jobs: those that may not begin
 * stay blocked, and members that a newer one has replaced are cancelled.
 */
export function applyGroups(
  locked: RunGroups,
  { run, jobs }: { readonly run: Run; readonly jobs: readonly RunJob[] },
  decided: readonly JobDecision[],
): readonly JobDecision[] {
  if (locked.groups.size === 0) return decided
  const isOpen = !run.needsApproval && jobs.some(({ status }) => !isFinal(status))
  const verdict = isOpen ? enterGroup(locked, { runId: run.id, jobId: 0 }, run.membership) : 'free'
  if (verdict === 'waits') return []
  if (verdict === 'cancelled') {
    return jobs.flatMap((job) => cancellationOf(job, run.membership))
  }
  const decisions = new Map(decided.map((decision) => [decision.id, decision]))
  return jobs.flatMap((job) => {
    const decision = decisions.get(job.id)
    const { membership, status } = job
    const isActive = membership?.state === 'entered' && !isFinal(status)
    if (membership === undefined || (decision?.to !== 'waiting' && !isActive)) return decision ?? []
    if (decision !== undefined && decision.to !== 'waiting') return decision
    const own = enterGroup(locked, memberOf(job), membership)
    if (own === 'cancelled') return cancellationOf(job, membership)
    return own === 'free' ? (decision ?? []) : []
  })
}

/** Returns the decision that cancels a job, unless it has ended or is being cancelled. */
function cancellationOf(
  { id, status: from }: RunJob,
  membership: Membership | undefined,
): JobDecision | [] {
  const group = membership?.group ?? ''
  const reason = `Cancelled because a newer run of the concurrency group '${group}' waits.`
  if (from === 'blocked' || from === 'waiting') return { id, from, to: 'cancelled', reason }
  return from === 'running' ? { id, from, to: 'cancelling', reason } : []
}

/** Returns the verdict about a run or job that may begin or has begun; it enters its group. */
function enterGroup(
  locked: RunGroups,
  member: Member,
  membership: Membership | undefined,
): Verdict {
  if (membership === undefined) return 'free'
  const group = locked.groups.get(membership.key)
  if (group === undefined) throw new Error('The concurrency group is not locked.')
  const { active, pending } = group
  if (isSame(active, member)) return group.isCancelled ? 'cancelled' : 'free'
  if (isSame(pending, member)) return 'waits'
  // A newer member has replaced this one.
  if (membership.state === 'entered' || locked.entered.has(member.jobId)) return 'cancelled'
  locked.entered.add(member.jobId)
  locked.changed.add(membership.key)
  if (active === undefined) {
    locked.groups.set(membership.key, { active: member, pending: undefined, isCancelled: false })
    return 'free'
  }
  const isCancelled = group.isCancelled || membership.cancels
  locked.groups.set(membership.key, { active, pending: member, isCancelled })
  if (pending !== undefined) locked.affected.add(pending.runId)
  if (isCancelled) locked.affected.add(active.runId)
  return 'waits'
}

/** Lets ended members leave their groups, and stores the groups. */
export async function leaveGroups(
  trx: Database,
  locked: RunGroups,
  { run, jobs }: { readonly run: Run; readonly jobs: readonly RunJob[] },
): Promise<void> {
  const members = [
    { member: { runId: run.id, jobId: 0 }, ...run },
    ...jobs.map((job) => ({ member: memberOf(job), ...job })),
  ]
  for (const { member, membership, status } of members) {
    if (membership === undefined) continue
    const isNew = locked.entered.has(member.jobId)
    if (!isNew && membership.state !== 'entered') continue
    if (isFinal(status)) {
      leave(locked, member, membership)
      await setMemberState(trx, member, 'left')
    } else if (isNew) await setMemberState(trx, member, 'entered')
  }
  if (locked.groups.size > 0) await writeGroups(trx, run.repositoryId, locked)
}

function leave({ groups, changed, affected }: RunGroups, member: Member, { key }: Membership) {
  const group = groups.get(key)
  if (group === undefined) return
  const { active, pending } = group
  if (isSame(pending, member)) groups.set(key, { ...group, pending: undefined })
  else if (!isSame(active, member)) return
  else {
    groups.set(key, { active: pending, pending: undefined, isCancelled: false })
    if (pending !== undefined) affected.add(pending.runId)
  }
  changed.add(key)
}

/** Returns a job as a member of its group. */
function memberOf({ runId, id }: Pick<RunJob, 'runId' | 'id'>): Member {
  return { runId, jobId: id }
}

function isSame(one: Member | undefined, { runId, jobId }: Member): boolean {
  return one?.runId === runId && one.jobId === jobId
}
