/** Planning of a deferred job: the jobs that it becomes when its needs have ended. */

import { ownKeyOf } from '../../conf/job-keys.js'
import { WORKFLOW_FOLDER } from '../../conf/workflow-folder.js'
import type { Database } from '../../sql/database/database.js'
import { findRepositoryById } from '../../sql/repositories/repositories.js'
import { addPlan, findPlan } from '../../sql/runs/job-plans.js'
import {
  changeJob,
  findJob,
  insertJobs,
  listJobs,
  type NewJob,
  nextPosition,
  type RunJob,
  sumPayloadLengths,
} from '../../sql/runs/run-jobs.js'
import { findRunById, type Run } from '../../sql/runs/runs.js'
import type { Context } from '../request/context.js'
import type { ContextValue } from '../workflows/expression-values.js'
import { type PlannedJob, RUN_LIMITS } from '../workflows/plan-jobs.js'
import { CallFault } from './called-file.js'
import { changeRun } from './change-run.js'
import { type Descendants, nameInCall, planCalls, type ReadyJob } from './plan-calls.js'
import { readNeed } from './read-need.js'
import { conditionContexts } from './task-context.js'

/**
 * Plans a deferred job: it runs until the jobs that it has become end, or fails because of a fault.
 * Has no effect if the job does not wait, or was planned before.
 */
export async function planJob(context: Context, jobId: number): Promise<void> {
  const job = await findJob(context.db, jobId)
  if (job === undefined || !isUnplanned(job)) return
  const run = await findRunById(context.db, job.runId)
  const repository = run && (await findRepositoryById(context.db, run.repositoryId))
  const plan = job.planId === undefined ? undefined : await findPlan(context.db, job.planId)
  if (run === undefined || repository === undefined || plan === undefined) return
  const ready = { run, repository, job, plan }
  const planned = refuseOwnGroup(run, await planOrReason(context, ready))
  await changeRun(context, run.id, async (trx, { jobs }) => {
    const current = jobs.find(({ id }) => id === jobId)
    if (current === undefined || !isUnplanned(current)) return false
    const atMs = Date.now()
    if (typeof planned === 'string') {
      const failed = { from: ['waiting'], to: 'failure', stoppedAtMs: atMs } as const
      return await changeJob(trx, jobId, { ...failed, reason: planned })
    }
    const count = await insertDescendants(trx, current, planned)
    return await changeJob(trx, jobId, {
      from: ['waiting'],
      to: 'running',
      reason: `The job has become ${count === 1 ? 'one job' : `${count} jobs`}.`,
      startedAtMs: atMs,
    })
  })
}

function isUnplanned({ isDeferred, status }: RunJob): boolean {
  return isDeferred && status === 'waiting'
}

/** Returns the jobs that a job becomes, or the reason why it fails. */
async function planOrReason(
  context: Context,
  ready: ReadyJob,
): Promise<readonly Descendants[] | string> {
  const { run, job, plan, repository } = ready
  const { db } = context
  const jobs = await listJobs(db, run.id)
  const needed: Record<string, ContextValue> = {}
  for (const need of job.needs) {
    const { status, outputs } = await readNeed(db, jobs, need)
    needed[ownKeyOf(need)] = { result: status, outputs }
  }
  const contextsOf = await conditionContexts(context, { run, repository }, [plan.id])
  const contexts = contextsOf(plan.id)
  const limits = {
    jobsMax: RUN_LIMITS.jobsMax - jobs.length,
    charactersMax: RUN_LIMITS.charactersMax - (await sumPayloadLengths(db, run.id)),
  }
  const planned = await context.planDeferred(
    {
      text: plan.text,
      key: ownKeyOf(job.key),
      event: plan.call === undefined ? run.event : 'workflow_call',
      contexts: { ...contexts, needs: needed },
      limits,
    },
    repository.owner.id,
  )
  switch (planned.kind) {
    case 'planned':
      return [{ plan: plan.id, jobs: planned.jobs.map((each) => childOf(ready, each)) }]
    case 'faulty':
      return `${plan.call?.path ?? `${WORKFLOW_FOLDER}/${run.workflowFile}`}:${planned.fault}.`
    case 'call':
      try {
        return await planCalls(context, ready, { planned, contexts, limits })
      } catch (error) {
        if (!(error instanceof CallFault)) throw error
        return `The job cannot call ${planned.place.text}: ${error.message}.`
      }
  }
}

/** Returns a reason instead of jobs that would wait for the group of their own run. */
function refuseOwnGroup(
  { membership }: Run,
  planned: readonly Descendants[] | string,
): readonly Descendants[] | string {
  if (membership === undefined || typeof planned === 'string') return planned
  const group = membership.group.toLowerCase()
  const waits = planned
    .flatMap(({ jobs }) => jobs)
    .some(({ concurrency }) => concurrency?.group.toLowerCase() === group)
  if (!waits) return planned
  return `A job would wait for its own run, which has the concurrency group '${membership.group}'.`
}

/** Returns a job of the same file that another becomes, which has what that one needs. */
function childOf({ job, plan }: ReadyJob, planned: PlannedJob): NewJob {
  const { key, needs, condition, permissions } = job
  const name = nameInCall(plan.call, planned.name)
  return { ...planned, key: `${key}/${planned.key}`, name, needs, condition, permissions }
}

/** Inserts the jobs that a job becomes, and returns their number. */
async function insertDescendants(
  trx: Database,
  parent: RunJob,
  planned: readonly Descendants[],
): Promise<number> {
  const first = await nextPosition(trx, parent.runId)
  let position = first
  for (const { plan, jobs: children } of planned) {
    const planId = typeof plan === 'number' ? plan : await addPlan(trx, plan)
    const { runId, attempt } = parent
    const place = { runId, attempt, parentId: parent.id, position, planId }
    await insertJobs(trx, place, children)
    position += children.length
  }
  return position - first
}
