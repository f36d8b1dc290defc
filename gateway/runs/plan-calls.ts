/** Planning of the workflows that a job calls, one for each combination of its matrix. */

import { type JobPermissions, limitPermissions, permissionsOf } from '../../conf/job-permissions.js'
import { countCalls, type JobPlan, type WorkflowCall } from '../../sql/runs/job-plans.js'
import type { NewJob, RunJob } from '../../sql/runs/run-jobs.js'
import type { Context } from '../request/context.js'
import type { Contexts } from '../workflows/expression-values.js'
import type { CalledPlan } from '../workflows/plan-called.js'
import {
  CALLS_MAX,
  type PlannedCalls,
  type PlannedJob,
  type RunLimits,
} from '../workflows/plan-jobs.js'
import { type CalledFile, CallFault, readCalledFile } from './called-file.js'
import type { RunOfRepository } from './task-context.js'

/** Jobs that a deferred job becomes, and their file. */
export interface Descendants {
  /** The file of the deferred job itself, or one that it calls. */
  readonly plan: number | Omit<JobPlan, 'id'>
  readonly jobs: readonly NewJob[]
}

/** A deferred job whose needs have ended. */
export interface ReadyJob extends RunOfRepository {
  readonly job: RunJob
  readonly plan: JobPlan
}

/** Maximum number of calls in each other. */
const DEPTH_MAX = 9

export interface CallsToPlan {
  readonly planned: PlannedCalls
  /** Contexts of the caller, without `needs`. */
  readonly contexts: Contexts
  readonly limits: RunLimits
}

/** Returns the jobs of the called workflows. Throws CallFault. */
export async function planCalls(
  context: Context,
  ready: ReadyJob,
  { planned, contexts, limits }: CallsToPlan,
): Promise<readonly Descendants[]> {
  const { run, repository, plan } = ready
  const { place, calls, secrets } = planned
  const depth = (plan.call?.depth ?? 0) + 1
  if (depth > DEPTH_MAX) throw new CallFault(`more than ${DEPTH_MAX} calls are in each other`)
  if ((await countCalls(context.db, run.id)) + calls.length > CALLS_MAX) {
    throw new CallFault(`a run may have ${CALLS_MAX} calls`)
  }
  const caller = plan.call ?? { repositoryId: repository.id, commitId: run.commitId }
  const file = await readCalledFile(context, { run, repository }, { caller, place })
  const descendants: Descendants[] = []
  let { jobsMax, charactersMax } = limits
  for (const [index, { name, given }] of calls.entries()) {
    const input = {
      text: file.text,
      given,
      secrets,
      contexts: { github: contexts['github'] ?? {}, vars: contexts['vars'] ?? {} },
      limits: { jobsMax, charactersMax },
    }
    const called = await context.planCalled(input, repository.owner.id)
    if (called.kind !== 'planned') throw faultOf(called, file)
    jobsMax -= called.jobs.length
    charactersMax -= called.jobs.reduce((sum, { payload }) => sum + payload.length, 0)
    const call: WorkflowCall = {
      callerId: ready.job.id,
      name: nameInCall(plan.call, name),
      depth,
      path: file.path,
      repositoryId: file.repositoryId,
      commitId: file.commitId,
      inputs: called.inputs,
      outputs: called.outputs,
      callerPlanId: plan.id,
      secrets,
    }
    const jobs = called.jobs.map((each) => childOf(ready, { call, index }, each))
    descendants.push({ plan: { runId: run.id, text: file.text, call }, jobs })
  }
  return descendants
}

function faultOf(
  called: Exclude<CalledPlan, { kind: 'planned' }>,
  { path }: CalledFile,
): CallFault {
  return new CallFault(called.kind === 'refused' ? called.message : `${path}:${called.fault}`)
}

/** Returns the name of a job, which follows that of the job that has called its file. */
export function nameInCall(call: Pick<WorkflowCall, 'name'> | undefined, name: string): string {
  return call === undefined ? name : `${call.name} / ${name}`
}

interface IndexedCall {
  readonly call: WorkflowCall
  readonly index: number
}

/** Returns a job of a called workflow. Its permissions are not above those of the caller. */
function childOf(ready: ReadyJob, { call, index }: IndexedCall, planned: PlannedJob): PlannedJob {
  const scope = `${ready.job.key}/${index}/`
  return {
    ...planned,
    key: `${scope}${planned.key}`,
    name: nameInCall(call, planned.name),
    needs: planned.needs.map((need) => `${scope}${need}`),
    permissions: permissionsIn(ready, ready.job, planned.permissions),
  }
}

function permissionsIn(
  { repository, run: { isFromFork } }: ReadyJob,
  { permissions: declared }: RunJob,
  wanted: JobPermissions | undefined,
): JobPermissions | undefined {
  if (wanted === undefined) return declared
  const isWriteDefault = repository.preferences['actions_token_writes'] === true
  return limitPermissions(wanted, permissionsOf({ declared, isWriteDefault, isFromFork }))
}
