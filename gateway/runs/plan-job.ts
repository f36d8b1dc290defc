/** Planning of a deferred job: the jobs that it becomes when its needs have ended. */

import { ownKeyOf } from '../../conf/job-keys.js'
import { findRepositoryById } from '../../sql/repositories/repositories.js'
import { findPlan } from '../../sql/runs/job-plans.js'
import {
  changeJob,
  findJob,
  insertJobs,
  listJobs,
  markPlanned,
  type RunJob,
  sumPayloadLengths,
} from '../../sql/runs/run-jobs.js'
import { findRunById, type Run } from '../../sql/runs/runs.js'
import type { Context } from '../request/context.js'
import type { ContextValue } from '../workflows/expression-values.js'
import type { DeferredPlan } from '../workflows/plan-deferred.js'
import { type PlannedJob, RUN_LIMITS } from '../workflows/plan-jobs.js'
import { changeRun } from './change-run.js'
import { readNeed } from './read-need.js'
import { expressionContexts } from './task-context.js'
import { WORKFLOW_FOLDER } from './workflow-files.js'

/**
 * Plans a deferred job: it runs until the jobs that it has become end, or fails because of a fault.
 * Has no effect if the job does not wait, or was planned before.
 */
export async function planJob(context: Context, jobId: number): Promise<void> {
  const job = await findJob(context.db, jobId)
  const run = job && (await findRunById(context.db, job.runId))
  if (job === undefined || run === undefined || !isUnplanned(job)) return
  const plan = await readPlan(context, run, job)
  if (plan === undefined) return
  await changeRun(context, run.id, async (trx, { jobs }) => {
    const current = jobs.find(({ id }) => id === jobId)
    if (current === undefined || !isUnplanned(current)) return false
    const atMs = Date.now()
    if (plan.kind === 'faulty') {
      const reason = `${WORKFLOW_FOLDER}/${run.workflowFile}:${plan.fault}.`
      return await changeJob(trx, jobId, {
        from: ['waiting'],
        to: 'failure',
        reason,
        stoppedAtMs: atMs,
      })
    }
    await markPlanned(trx, jobId)
    const place = {
      runId: run.id,
      position: Math.max(...jobs.map(({ position }) => position)) + 1,
      parentId: jobId,
      planId: undefined,
    }
    await insertJobs(
      trx,
      place,
      plan.jobs.map((planned) => childOf(current, planned)),
    )
    const count = plan.jobs.length
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

/** Returns a job that another becomes, which has what that one needs. */
function childOf({ key, needs, condition }: RunJob, planned: PlannedJob): PlannedJob {
  return { ...planned, key: `${key}/${planned.key}`, needs, condition }
}

/** Returns the plan of a job; undefined if its repository was deleted. */
async function readPlan(
  context: Context,
  run: Run,
  { key, needs, planId }: RunJob,
): Promise<DeferredPlan | undefined> {
  const { db } = context
  const repository = await findRepositoryById(db, run.repositoryId)
  const file = planId === undefined ? undefined : await findPlan(db, planId)
  if (repository === undefined || file === undefined) return undefined
  const jobs = await listJobs(db, run.id)
  const needed: Record<string, ContextValue> = {}
  for (const need of needs) {
    const { status, outputs } = await readNeed(db, jobs, need)
    needed[ownKeyOf(need)] = { result: status, outputs }
  }
  const contexts = await expressionContexts(context, { run, repository })
  return await context.planDeferred(
    {
      text: file.text,
      key: ownKeyOf(key),
      event: run.event,
      contexts: { ...contexts, needs: needed },
      limits: {
        jobsMax: RUN_LIMITS.jobsMax - jobs.length,
        charactersMax: RUN_LIMITS.charactersMax - (await sumPayloadLengths(db, run.id)),
      },
    },
    repository.owner.id,
  )
}
