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

/** A job as the decisions need it. */
export interface DecidableJob {
  readonly key: string
  readonly needs: readonly string[]
  readonly condition: string | undefined
  readonly status: JobStatus
}

/** Decision about a job that was blocked. */
export interface JobDecision {
  readonly key: string
  readonly to: 'waiting' | 'skipped' | 'failure'
  /** Reason for a failure; empty otherwise. */
  readonly reason: string
}

const UNFINISHED: ReadonlySet<JobStatus> = new Set(['blocked', 'waiting', 'running', 'cancelling'])

/**
 * Decides about the blocked jobs whose needs have ended: they wait for a runner, unless their
 * condition is false or faulty. A job that is decided may be what others need. `contexts` are those
 * of the conditions, without `needs`; `outputsOf` returns the outputs of an ended job.
 */
export function decideJobs(
  jobs: readonly DecidableJob[],
  contexts: Contexts,
  outputsOf: (key: string) => Readonly<Record<string, string>>,
): readonly JobDecision[] {
  const statuses = new Map(jobs.map(({ key, status }) => [key, status]))
  const byKey = new Map(jobs.map((job) => [job.key, job]))
  const work = newWork()
  const decisions: JobDecision[] = []
  let left = jobs.filter(({ status }) => status === 'blocked')
  for (let count = -1; count !== left.length; ) {
    count = left.length
    left = left.filter((job) => {
      if (job.needs.some((key) => UNFINISHED.has(statuses.get(key) ?? 'skipped'))) return true
      const decision = decide(job, { byKey, statuses, contexts, outputsOf, work })
      statuses.set(job.key, decision.to)
      decisions.push(decision)
      return false
    })
  }
  return decisions
}

interface Decided {
  readonly byKey: ReadonlyMap<string, DecidableJob>
  readonly statuses: ReadonlyMap<string, JobStatus>
  readonly contexts: Contexts
  readonly outputsOf: (key: string) => Readonly<Record<string, string>>
  /** Work that the conditions of all jobs share. */
  readonly work: Work
}

function decide(job: DecidableJob, decided: Decided): JobDecision {
  const { key, needs, condition } = job
  const { statuses, contexts, outputsOf, work } = decided
  const results = needs.map((need) => statuses.get(need))
  const ancestors = ancestorsOf(job, decided.byKey)
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
    return { key, to: isTrue ? 'waiting' : 'skipped', reason: '' }
  } catch (error) {
    if (!(error instanceof ExpressionFault)) throw error
    return { key, to: 'failure', reason: `The condition of the job is faulty: ${error.message}.` }
  }
}

/** Returns the keys of all jobs that must end before this one. */
function ancestorsOf(
  { needs }: DecidableJob,
  byKey: ReadonlyMap<string, DecidableJob>,
): readonly string[] {
  const found = new Set<string>()
  const open = [...needs]
  for (let key = open.pop(); key !== undefined; key = open.pop()) {
    if (found.has(key)) continue
    found.add(key)
    open.push(...(byKey.get(key)?.needs ?? []))
  }
  return [...found]
}

/**
 * Returns the status of a run from those of its jobs. While some jobs have not ended, it is that of
 * the job that is furthest. A failure weighs more than a cancellation, and skipped jobs count as
 * successful unless all are skipped.
 */
export function concludeRun(statuses: readonly JobStatus[]): JobStatus {
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
