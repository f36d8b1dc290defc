/** Claims of waiting jobs by runners. */

import type { Runner } from '../../sql/runners/runners.js'
import {
  changeJob,
  findJob,
  type RunJob,
  type RunnerScope,
  type WaitingJob,
} from '../../sql/runs/run-jobs.js'
import { createTask, removeTask } from '../../sql/runs/tasks.js'
import { hashToken, newJobToken } from '../auth/token.js'
import type { Context } from '../request/context.js'
import { changeRun } from './change-run.js'

/** A job that a runner has claimed. */
export interface Claim {
  readonly taskId: number
  readonly job: RunJob
  /** The job token, which is stored only as a hash. */
  readonly token: string
}

/** The jobs that a runner takes. */
export interface Offer extends RunnerScope {
  /** Names of the runner's labels. */
  readonly labels: ReadonlySet<string>
  /** True if the runner takes jobs that anyone can cause by a pull request from a fork. */
  readonly takesUntrusted: boolean
}

/** Returns the jobs that a runner takes. */
export function offerOf({ ownerId, repositoryId, labels, runsForks }: Runner): Offer {
  // A runner of the whole site must not be a way from one repository's fork to other repositories.
  const takesUntrusted = ownerId !== undefined || repositoryId !== undefined || runsForks
  return { ownerId, repositoryId, labels: new Set(labels.map(labelOf)), takesUntrusted }
}

/** True if the runner's scope contains the job's repository, and the runner has all its labels. */
export function fitsJob(
  { ownerId, repositoryId, labels, takesUntrusted }: Offer,
  job: Omit<WaitingJob, 'id' | 'runId'>,
): boolean {
  if (job.isUntrusted && !takesUntrusted) return false
  if (repositoryId !== undefined && repositoryId !== job.repositoryId) return false
  if (ownerId !== undefined && ownerId !== job.ownerId) return false
  return job.labels.length > 0 && job.labels.every((label) => labels.has(labelOf(label)))
}

/** Returns the name of a label, without the scheme that follows a colon, in lower case. */
function labelOf(text: string): string {
  return (text.split(':')[0] ?? '').toLowerCase()
}

/** Claims a job. Returns undefined if another runner has claimed it, or if it no longer waits. */
export async function claimJob(
  context: Context,
  runner: Runner,
  { id, runId, repositoryId }: WaitingJob,
): Promise<Claim | undefined> {
  const token = newJobToken()
  let claim: Claim | undefined
  await changeRun(context, runId, async (trx) => {
    claim = undefined
    const started = { from: ['waiting'], to: 'running', startedAtMs: Date.now() } as const
    if (!(await changeJob(trx, id, started))) return false
    const tokenHash = hashToken(token)
    const taskId = await createTask(trx, {
      jobId: id,
      repositoryId,
      runnerId: runner.id,
      tokenHash,
    })
    await changeJob(trx, id, { from: ['running'], to: 'running', taskId })
    const job = await findJob(trx, id)
    claim = job && { taskId, job, token }
    return true
  })
  return claim
}

/** Gives a claimed job back, whose runner has not received it. */
export async function releaseClaim(context: Context, { taskId, job }: Claim): Promise<void> {
  await changeRun(context, job.runId, async (trx) => {
    const current = await findJob(trx, job.id)
    if (current?.taskId !== taskId) return false
    const isReleased = await changeJob(trx, job.id, { from: ['running'], to: 'waiting' })
    if (isReleased) await removeTask(trx, taskId)
    return isReleased
  })
}
