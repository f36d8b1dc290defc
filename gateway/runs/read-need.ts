/** Results and outputs of jobs, as the jobs that need them get them. */

import { ownKeyOf } from '../../conf/job-keys.js'
import type { Database } from '../../sql/database/database.js'
import { listCallsOf, type WorkflowCall } from '../../sql/runs/job-plans.js'
import type { RunJob } from '../../sql/runs/run-jobs.js'
import { isFinal, type RunStatus } from '../../sql/runs/statuses.js'
import { mergeOutputs } from '../../sql/runs/tasks.js'
import { concludeJobs } from '../workflows/decide-jobs.js'
import type { ContextValue } from '../workflows/expression-values.js'
import { ExpressionFault, newWork } from '../workflows/expression-work.js'
import { interpolate } from '../workflows/expressions.js'

export interface Need {
  readonly status: RunStatus
  /** Outputs by their names; empty until all jobs with the key have ended. */
  readonly outputs: Readonly<Record<string, string>>
}

/** Returns the status and the outputs of the jobs of a run that have this key. */
export async function readNeed(db: Database, jobs: readonly RunJob[], key: string): Promise<Need> {
  const needed = jobs.filter((job) => job.key === key)
  const status = concludeJobs(needed)
  if (!isFinal(status)) return { status, outputs: {} }
  const taskIds = needed.flatMap((job) => tasksOf(jobs, job))
  const outputs = Object.fromEntries(await mergeOutputs(db, taskIds))
  for (const { id, isDeferred } of needed) {
    // Only deferred jobs call workflows; a matrix may have hundreds of others.
    if (isDeferred) Object.assign(outputs, await outputsOfCalls(db, jobs, id))
  }
  return { status, outputs }
}

/** Returns the last task of a job, or those of the jobs of its file that it has become. */
function tasksOf(jobs: readonly RunJob[], { id, key, taskId }: RunJob): readonly number[] {
  if (taskId !== undefined) return [taskId]
  const childKey = `${key}/${ownKeyOf(key)}`
  return jobs.flatMap((job) =>
    job.parentId === id && job.key === childKey ? tasksOf(jobs, job) : [],
  )
}

/** Returns the outputs of the workflows that a job has called. */
async function outputsOfCalls(
  db: Database,
  jobs: readonly RunJob[],
  callerId: number,
): Promise<Readonly<Record<string, string>>> {
  const outputs: Record<string, string> = {}
  for (const { planId: id, call } of await listCallsOf(db, callerId)) {
    const ofCall = jobs.filter(({ planId, parentId }) => planId === id && parentId === callerId)
    const results: Record<string, ContextValue> = {}
    for (const key of new Set(ofCall.map((job) => job.key))) {
      const { status, outputs: made } = await readNeed(db, jobs, key)
      results[ownKeyOf(key)] = { result: status, outputs: made }
    }
    Object.assign(outputs, evaluateOutputs(call, results))
  }
  return outputs
}

/** Returns the values of the outputs of a call; those whose expressions are faulty are left out. */
function evaluateOutputs(
  { outputs, inputs }: WorkflowCall,
  jobs: ContextValue,
): Readonly<Record<string, string>> {
  const work = newWork()
  const entries = Object.entries(outputs).flatMap(([name, text]) => {
    try {
      return [[name, interpolate(text, { jobs, inputs }, work)] as const]
    } catch (error) {
      if (!(error instanceof ExpressionFault)) throw error
      return []
    }
  })
  return Object.fromEntries(entries)
}
