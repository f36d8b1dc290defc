/** The plan of a deferred job: the jobs that it becomes, or the workflow that it calls. */

import {
  type DeferredJobs,
  type PlannedCalls,
  type PlannedJob,
  planDeferredJobs,
} from './plan-jobs.js'
import { readWorkflow } from './read-workflow.js'
import { FileFault } from './yaml-value.js'

export interface DeferredInput extends DeferredJobs {
  /** Text of the workflow file. */
  readonly text: string
}

export type DeferredPlan =
  | { readonly kind: 'planned'; readonly jobs: readonly PlannedJob[] }
  | ({ readonly kind: 'call' } & PlannedCalls)
  /** Line, column and message of the fault. */
  | { readonly kind: 'faulty'; readonly fault: string }

/** Plans a deferred job. Never throws for what a file or the outputs of jobs may contain. */
export function planDeferred({ text, ...job }: DeferredInput): DeferredPlan {
  try {
    const planned = planDeferredJobs(readWorkflow(text), job)
    return 'calls' in planned ? { kind: 'call', ...planned } : { kind: 'planned', jobs: planned }
  } catch (error) {
    if (!(error instanceof FileFault)) throw error
    const { line, column } = error.position
    return { kind: 'faulty', fault: `${line}:${column}: ${error.message}` }
  }
}
