/** Decisions about the jobs of a run: which of them wait, and how the run ends. */

import type { Contexts, ContextValue } from './expression-values.js'
import { ExpressionFault, newWork, type Work } from './expression-work.js'
import { evaluateCondition } from './expressions.js'

/** Status of a job; `blocked` until its needs have ended. */
export type JobStatus =
  | 'blocked'
  | 'waiting'
  | 'running'
  | 'cancelling'
  | 'success'
  | 'failure'
  | 'cancelled'
  | 'skipped'

/** A job as the decisions need it. The jobs of a matrix have the same key, needs and condition. */
export interface DecidableJob {
  readonly id: number
  readonly key: string
  readonly name: string
  readonly needs: readonly string[]
  readonly condition: string | undefined
  readonly failsFast: boolean
  readonly maxParallel: number | undefined
  readonly continuesOnError: boolean
  /** First attempt of the run that the job belongs to. */
  readonly attempt: number
  readonly status: JobStatus
}

/** Decision about a job. */
export interface JobDecision {
  readonly id: number
  readonly from: JobStatus
  readonly to: 'waiting' | 'skipped' | 'failure' | 'cancelling' | 'cancelled'
  /** Reason for a failure or cancellation; empty otherwise. */
  readonly reason: string
}

/** Outputs of the ended jobs with a key. */
export type OutputsOf = (key: string) => Readonly<Record<string, string>>

const UNFINISHED: ReadonlySet<JobStatus> = new Set(['blocked', 'waiting', 'running', 'cancelling'])

/**
 * Decides what follows from the statuses of jobs. A failure in a matrix cancels the other jobs of
 * the matrix. Blocked jobs whose needs have ended wait for a runner, up to `max-parallel` of a
 * matrix, unless their condition is false or faulty. A job that is decided may be what others need.
 * `contexts` are those of the conditions, without `needs`.
 */
export function decideJobs(
  jobs: readonly DecidableJob[],
  contexts: Contexts,
  outputsOf: OutputsOf,
): readonly JobDecision[] {
  const decisions = [...groupsOf(jobs).values()].flatMap(cancelAfterFailure)
  const groups = groupsOf(applied(jobs, decisions))
  const statuses = new Map([...groups].map(([key, group]) => [key, concludeJobs(group)]))
  const work = newWork()
  let left = [...groups.values()].filter((group) => group.some(isBlocked))
  for (let count = -1; count !== left.length; ) {
    count = left.length
    left = left.filter((group) => {
      const [{ key, needs }] = group
      if (needs.some((need) => UNFINISHED.has(statuses.get(need) ?? 'skipped'))) return true
      const decided = decideGroup(group, { groups, statuses, contexts, outputsOf, work })
      statuses.set(key, concludeJobs(applied(group, decided)))
      decisions.push(...decided)
      return false
    })
  }
  return decisions
}

/** Jobs with the same key. */
type Group = readonly [DecidableJob, ...DecidableJob[]]

function groupsOf(jobs: readonly DecidableJob[]): ReadonlyMap<string, Group> {
  const groups = new Map<string, [DecidableJob, ...DecidableJob[]]>()
  for (const job of jobs) {
    const group = groups.get(job.key)
    if (group === undefined) groups.set(job.key, [job])
    else group.push(job)
  }
  return groups
}

/** Returns the jobs with the statuses that decisions give them. */
function applied(
  jobs: readonly DecidableJob[],
  decisions: readonly JobDecision[],
): readonly DecidableJob[] {
  const statuses = new Map(decisions.map(({ id, to }) => [id, to]))
  return jobs.map((job) => ({ ...job, status: statuses.get(job.id) ?? job.status }))
}

function isBlocked({ status }: DecidableJob): boolean {
  return status === 'blocked'
}

/** Cancels the other jobs of a matrix if one has failed, except those of later attempts. */
function cancelAfterFailure(group: Group): JobDecision[] {
  const [failed] = group
    .filter((job) => job.failsFast && resultOf(job) === 'failure')
    .toSorted((a, b) => b.attempt - a.attempt)
  if (failed === undefined) return []
  const reason = `The job was cancelled because '${failed.name}' has failed.`
  return group.flatMap(({ id, status: from, attempt }) => {
    if (attempt > failed.attempt) return []
    if (from === 'blocked' || from === 'waiting') return { id, from, to: 'cancelled', reason }
    return from === 'running' ? { id, from, to: 'cancelling', reason } : []
  })
}

interface Decided {
  readonly groups: ReadonlyMap<string, Group>
  readonly statuses: ReadonlyMap<string, JobStatus>
  readonly contexts: Contexts
  readonly outputsOf: OutputsOf
  /** Work that the conditions of all jobs share. */
  readonly work: Work
}

/** Decides about the blocked jobs of a group, whose needs have ended. */
function decideGroup(group: Group, decided: Decided): readonly JobDecision[] {
  const [{ maxParallel = group.length }] = group
  const { to, reason } = decide(group[0], decided)
  const active = group.filter(({ status }) => status !== 'blocked' && UNFINISHED.has(status))
  const blocked = group.filter(isBlocked)
  const chosen =
    to === 'waiting' ? blocked.slice(0, Math.max(0, maxParallel - active.length)) : blocked
  return chosen.map(({ id, status }) => ({ id, from: status, to, reason }))
}

function decide(
  { needs, condition, key }: DecidableJob,
  { groups, statuses, contexts, outputsOf, work }: Decided,
): Pick<JobDecision, 'to' | 'reason'> {
  const results = needs.map((need) => statuses.get(need))
  const ancestors = ancestorsOf(key, groups)
  const outcome = {
    hasSucceeded: results.every((result) => result === 'success'),
    hasFailed: ancestors.some((ancestor) => statuses.get(ancestor) === 'failure'),
    isCancelled: ancestors.some((ancestor) => statuses.get(ancestor) === 'cancelled'),
  }
  const needed = Object.fromEntries(
    needs.map((need): [string, ContextValue] => [
      need,
      { result: statuses.get(need) ?? 'skipped', outputs: outputsOf(need) },
    ]),
  )
  try {
    const isTrue = evaluateCondition(condition, { ...contexts, needs: needed }, outcome, work)
    return { to: isTrue ? 'waiting' : 'skipped', reason: '' }
  } catch (error) {
    if (!(error instanceof ExpressionFault)) throw error
    return { to: 'failure', reason: `The condition of the job is faulty: ${error.message}.` }
  }
}

/** Returns the keys of all jobs that must end before those with this key. */
function ancestorsOf(key: string, groups: ReadonlyMap<string, Group>): readonly string[] {
  const needsOf = (need: string) => groups.get(need)?.[0].needs ?? []
  const found = new Set<string>()
  const open = [...needsOf(key)]
  for (let need = open.pop(); need !== undefined; need = open.pop()) {
    if (found.has(need)) continue
    found.add(need)
    open.push(...needsOf(need))
  }
  return [...found]
}

/** Returns the status of a job as it counts for its run and for the jobs that need it. */
function resultOf({
  status,
  continuesOnError,
}: Pick<DecidableJob, 'status' | 'continuesOnError'>): JobStatus {
  return status === 'failure' && continuesOnError ? 'success' : status
}

/**
 * Returns the status of a run, or of a matrix, from those of its jobs. While some jobs have not
 * ended, it is that of the job that is furthest. A failure weighs more than a cancellation, and
 * skipped jobs count as successful unless all are skipped.
 */
export function concludeJobs(
  jobs: readonly Pick<DecidableJob, 'status' | 'continuesOnError'>[],
): JobStatus {
  const statuses = jobs.map(resultOf)
  const has = (status: JobStatus) => statuses.includes(status)
  if (statuses.some((status) => UNFINISHED.has(status))) {
    const isStarted = statuses.some((status) => !UNFINISHED.has(status) && status !== 'skipped')
    if (has('cancelling')) return 'cancelling'
    if (has('running') || isStarted) return 'running'
    return has('waiting') ? 'waiting' : 'blocked'
  }
  if (has('failure')) return 'failure'
  if (has('cancelled')) return 'cancelled'
  return has('success') ? 'success' : 'skipped'
}
