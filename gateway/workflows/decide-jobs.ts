/** Decisions about the jobs of a run: which of them wait, and how the run ends. */

import { ownKeyOf } from '../../conf/job-keys.js'
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
  /** The job that has become this one and others; undefined for jobs of the file. */
  readonly parentId: number | undefined
  readonly key: string
  /** File of the job, if it is a called one. */
  readonly planId: number | undefined
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
  readonly to: JobStatus
  /** Reason for a failure or cancellation; empty otherwise. */
  readonly reason: string
}

/** Contexts of the conditions of the jobs of a file. */
export type ContextsOf = (planId: number | undefined) => Contexts

/** Outputs of the ended jobs with a key. */
export type OutputsOf = (key: string) => Readonly<Record<string, string>>

const UNFINISHED: ReadonlySet<JobStatus> = new Set(['blocked', 'waiting', 'running', 'cancelling'])

/**
 * Decides what follows from the statuses of jobs. A failure in a matrix cancels the other jobs of
 * the matrix. Blocked jobs whose needs have ended wait for a runner, up to `max-parallel` of a
 * matrix, unless their condition is false or faulty. A job that is decided may be what others need.
 * `contextsOf` returns the contexts of the conditions in a file, without `needs`.
 */
export function decideJobs(
  jobs: readonly DecidableJob[],
  contextsOf: ContextsOf,
  outputsOf: OutputsOf,
): readonly JobDecision[] {
  const statuses = new Statuses(jobs)
  const decided = { statuses, contextsOf, outputsOf, work: newWork() }
  for (const group of statuses.groups.values()) cancelAfterFailure(group, statuses)
  let left = [...statuses.groups.values()].filter((group) => group.some(isBlocked))
  for (let count = -1; count !== statuses.decisions.length; ) {
    count = statuses.decisions.length
    left = left.filter((group) => {
      const [{ needs }] = group
      if (needs.some((need) => UNFINISHED.has(statuses.ofGroup(need) ?? 'skipped'))) return true
      decideGroup(group, decided)
      return false
    })
  }
  return statuses.decisions
}

/**
 * Decides about jobs that have become others: they end with those, and those are cancelled with
 * them. The outputs of a job that ends are known only when this is applied.
 */
export function decideFamilies(jobs: readonly DecidableJob[]): readonly JobDecision[] {
  const families = familiesOf(jobs)
  if (families.length === 0) return []
  const statuses = new Statuses(jobs)
  for (let count = -1; count !== statuses.decisions.length; ) {
    count = statuses.decisions.length
    for (const family of families) decideFamily(family, statuses)
  }
  return statuses.decisions
}

/** Jobs with the same key. */
type Group = readonly [DecidableJob, ...DecidableJob[]]

/** Statuses of jobs, and of the groups of jobs, with the decisions that have changed them. */
class Statuses {
  readonly decisions: JobDecision[] = []
  readonly groups: ReadonlyMap<string, Group>
  readonly #ofJobs: Map<number, JobStatus>
  readonly #ofGroups = new Map<string, JobStatus>()

  constructor(jobs: readonly DecidableJob[]) {
    this.groups = groupsOf(jobs)
    this.#ofJobs = new Map(jobs.map(({ id, status }) => [id, status]))
    for (const group of this.groups.values()) this.#conclude(group)
  }

  of({ id, status }: DecidableJob): JobStatus {
    return this.#ofJobs.get(id) ?? status
  }

  /** Returns the status of the jobs with a key; undefined if there is none. */
  ofGroup(key: string): JobStatus | undefined {
    return this.#ofGroups.get(key)
  }

  /** Returns the status that follows from those of jobs. */
  conclude(jobs: readonly DecidableJob[]): JobStatus {
    return concludeJobs(jobs.map((job) => ({ ...job, status: this.of(job) })))
  }

  /** Decides about jobs of one group. */
  decide(jobs: readonly DecidableJob[], to: JobStatus, reason: string): void {
    const [first] = jobs
    if (first === undefined) return
    for (const job of jobs) {
      this.decisions.push({ id: job.id, from: this.of(job), to, reason })
      this.#ofJobs.set(job.id, to)
    }
    this.#conclude(this.groups.get(first.key) ?? [first])
  }

  #conclude(group: Group): void {
    this.#ofGroups.set(group[0].key, this.conclude(group))
  }
}

function groupsOf(jobs: readonly DecidableJob[]): ReadonlyMap<string, Group> {
  const groups = new Map<string, [DecidableJob, ...DecidableJob[]]>()
  for (const job of jobs) {
    const group = groups.get(job.key)
    if (group === undefined) groups.set(job.key, [job])
    else group.push(job)
  }
  return groups
}

function isBlocked({ status }: DecidableJob): boolean {
  return status === 'blocked'
}

/** A job that has become others, and those. */
interface Family {
  readonly parent: DecidableJob
  readonly children: readonly DecidableJob[]
}

/** Returns the families, those of the youngest jobs first. */
function familiesOf(jobs: readonly DecidableJob[]): readonly Family[] {
  const families = new Map<number, DecidableJob[]>()
  for (const job of jobs) {
    if (job.parentId === undefined) continue
    const family = families.get(job.parentId)
    if (family === undefined) families.set(job.parentId, [job])
    else family.push(job)
  }
  return jobs
    .flatMap((parent) => {
      const children = families.get(parent.id)
      return children === undefined ? [] : { parent, children }
    })
    .toReversed()
}

/** Ends a job when those that it has become have ended, and cancels them if it is cancelled. */
function decideFamily({ parent, children }: Family, statuses: Statuses): void {
  const status = statuses.of(parent)
  if (!UNFINISHED.has(status)) return
  if (status === 'cancelling') {
    const reason = `The job was cancelled because '${parent.name}' was cancelled.`
    for (const child of children) cancel(child, reason, statuses)
  }
  const result = statuses.conclude(children)
  if (UNFINISHED.has(result)) return
  statuses.decide([parent], status === 'cancelling' ? 'cancelled' : result, '')
}

/** Cancels the other jobs of a matrix if one has failed, except those of later attempts. */
function cancelAfterFailure(group: Group, statuses: Statuses): void {
  const hasFailed = (job: DecidableJob) =>
    resultOf({ ...job, status: statuses.of(job) }) === 'failure'
  const [failed] = group
    .filter((job) => job.failsFast && hasFailed(job))
    .toSorted((a, b) => b.attempt - a.attempt)
  if (failed === undefined) return
  const reason = `The job was cancelled because '${failed.name}' has failed.`
  const others = group.filter(({ attempt }) => attempt <= failed.attempt)
  for (const job of others) cancel(job, reason, statuses)
}

function cancel(job: DecidableJob, reason: string, statuses: Statuses): void {
  const status = statuses.of(job)
  if (status === 'running') statuses.decide([job], 'cancelling', reason)
  if (status === 'blocked' || status === 'waiting') statuses.decide([job], 'cancelled', reason)
}

interface Decided {
  readonly statuses: Statuses
  readonly contextsOf: ContextsOf
  readonly outputsOf: OutputsOf
  /** Work that the conditions of all jobs share. */
  readonly work: Work
}

/** Decides about the blocked jobs of a group, whose needs have ended. */
function decideGroup(group: Group, decided: Decided): void {
  const { statuses } = decided
  const blocked = group.filter((job) => statuses.of(job) === 'blocked')
  if (blocked.length === 0) return
  const [{ maxParallel = group.length }] = group
  const { to, reason } = decide(group[0], decided)
  const active = group.filter(
    (job) => statuses.of(job) !== 'blocked' && UNFINISHED.has(statuses.of(job)),
  )
  const chosen =
    to === 'waiting' ? blocked.slice(0, Math.max(0, maxParallel - active.length)) : blocked
  statuses.decide(chosen, to, reason)
}

function decide(
  { needs, condition, key, planId }: DecidableJob,
  { statuses, contextsOf, outputsOf, work }: Decided,
): Pick<JobDecision, 'to' | 'reason'> {
  const results = needs.map((need) => statuses.ofGroup(need))
  const ancestors = ancestorsOf(key, statuses.groups)
  const outcome = {
    hasSucceeded: results.every((result) => result === 'success'),
    hasFailed: ancestors.some((ancestor) => statuses.ofGroup(ancestor) === 'failure'),
    isCancelled: ancestors.some((ancestor) => statuses.ofGroup(ancestor) === 'cancelled'),
  }
  const needed = Object.fromEntries(
    needs.map((need): [string, ContextValue] => [
      ownKeyOf(need),
      { result: statuses.ofGroup(need) ?? 'skipped', outputs: outputsOf(need) },
    ]),
  )
  try {
    const isTrue = evaluateCondition(
      condition,
      { ...contextsOf(planId), needs: needed },
      outcome,
      work,
    )
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
