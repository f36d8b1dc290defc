/** Re-runs: a further attempt of a run, for all of its jobs or for some of them. */

import { Failure, notFound } from '../../conf/failures.js'
import { JOBS_USER_ID } from '../../sql/accounts/jobs-user.js'
import type { User } from '../../sql/accounts/users.js'
import type { Repository } from '../../sql/repositories/repositories.js'
import { beginAttempt } from '../../sql/runs/attempts.js'
import type { RunJob } from '../../sql/runs/run-jobs.js'
import type { Run } from '../../sql/runs/runs.js'
import { isFinal } from '../../sql/runs/statuses.js'
import { disabledWorkflows } from '../../sql/runs/workflow-switches.js'
import type { Context } from '../request/context.js'
import { changeRun } from './change-run.js'
import { tooManyWait } from './start-runs.js'

const ATTEMPTS_MAX = 50
const DAYS_MAX = 30
const DAY_MS = 86_400_000

export interface Rerun {
  readonly run: Run
  readonly repository: Repository
  /** User who requests the attempt, and may write to the repository. */
  readonly user: Pick<User, 'id'>
  /** Jobs that are repeated, with all jobs that need them. */
  readonly jobs: 'all' | 'failed' | Pick<RunJob, 'id'>
}

/**
 * Begins a further attempt of a run, with the commit, event and payload of the first one. Jobs that
 * are not repeated keep their results and outputs. Jobs of the run that the repeated ones do not
 * concern may still run. Throws `bad_request` if the run or the jobs cannot be repeated now, and
 * `forbidden` for the account of jobs.
 */
export async function rerunRun(
  context: Context,
  { run: { id, workflowFile }, repository, user, jobs: wanted }: Rerun,
): Promise<void> {
  if (user.id === JOBS_USER_ID) throw new Failure('forbidden', 'A job cannot re-run jobs.')
  if ((await disabledWorkflows(context.db, repository.id)).has(workflowFile)) {
    throw refusal(`The workflow ${workflowFile} is disabled.`)
  }
  if (await tooManyWait(context, repository, { needsApproval: false })) {
    throw refusal('Too many runs of this repository wait for runners.')
  }
  const isChanged = await changeRun(context, id, async (trx, { run, jobs }) => {
    const reason = whyNoRerun(run)
    if (reason !== undefined) throw refusal(reason)
    const repeated = repeatedJobs(jobs, wanted)
    await beginAttempt(trx, { run, repeated, actorId: user.id })
    return true
  })
  if (!isChanged) throw notFound()
}

/** Returns the reason why no job of a run can be repeated; undefined if that is possible. */
export function whyNoRerun({
  fault,
  needsApproval,
  attempt,
  createdAtMs,
}: Run): string | undefined {
  if (fault !== '') return 'The workflow file is faulty, so the run has no jobs.'
  if (needsApproval) return 'The run was not approved.'
  if (attempt >= ATTEMPTS_MAX) return `The run has had ${ATTEMPTS_MAX} attempts.`
  const isOld = Date.now() - createdAtMs > DAYS_MAX * DAY_MS
  return isOld ? `The run is older than ${DAYS_MAX} days.` : undefined
}

function refusal(reason: string): Failure {
  return new Failure('bad_request', reason)
}

/** Returns the repeated jobs, with all that deferred ones of them have become. */
function repeatedJobs(all: readonly RunJob[], wanted: Rerun['jobs']): readonly RunJob[] {
  const byId = new Map(all.map((job) => [job.id, job]))
  // A job of a called workflow, or of a deferred matrix, is repeated with the whole of it.
  const originOf = (job: RunJob): RunJob => {
    const parent = byId.get(job.parentId ?? 0)
    return parent === undefined ? job : originOf(parent)
  }
  const origins = all.filter(({ parentId }) => parentId === undefined)
  const repeated = new Set(repeatedOrigins(origins, chosenJobs(all, wanted).map(originOf)))
  return all.filter((job) => repeated.has(originOf(job)))
}

function repeatedOrigins(jobs: readonly RunJob[], wanted: readonly RunJob[]): readonly RunJob[] {
  const chosen = new Set(wanted)
  const keys = withDependents(
    jobs,
    [...chosen].map(({ key }) => key),
  )
  const repeated = jobs.filter((job) => {
    const isDependent = job.needs.some((need) => keys.has(need))
    // A blocked job has yet to be decided, by the results of the new attempt.
    return chosen.has(job) || (isDependent && job.status !== 'blocked')
  })
  const unended = repeated.find(({ status }) => !isFinal(status))
  if (unended !== undefined) throw refusal(`The job '${unended.name}' has not ended.`)
  return repeated
}

function chosenJobs(jobs: readonly RunJob[], wanted: Rerun['jobs']): readonly RunJob[] {
  if (wanted === 'all') return jobs
  if (wanted === 'failed') {
    const failed = jobs.filter(({ status }) => status === 'failure' || status === 'cancelled')
    if (failed.length === 0) throw refusal('No job of the run has failed.')
    return failed
  }
  const job = jobs.find(({ id }) => id === wanted.id)
  if (job === undefined) throw refusal('A newer attempt has replaced the job.')
  return [job]
}

/** Returns the keys, and those of all jobs that need them, directly or through others. */
function withDependents(jobs: readonly RunJob[], keys: readonly string[]): ReadonlySet<string> {
  const dependents = new Map<string, Set<string>>()
  for (const { key, needs } of jobs) {
    for (const need of needs) {
      const known = dependents.get(need)
      if (known === undefined) dependents.set(need, new Set([key]))
      else known.add(key)
    }
  }
  const found = new Set(keys)
  // The loop also visits the keys that it adds.
  for (const key of found) for (const dependent of dependents.get(key) ?? []) found.add(dependent)
  return found
}
