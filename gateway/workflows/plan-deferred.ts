/** The plan of a deferred job: the jobs that it becomes when its needs have ended, or its fault. */

import { type DeferredJobs, type PlannedJob, planDeferredJobs } from './plan-jobs.js'
import { readWorkflow } from './read-workflow.js'
import { FileFault } from './yaml-value.js'

export interface DeferredInput extends DeferredJobs {
  /** Text of the workflow file. */
  readonly text: string
}

export type DeferredPlan =
  | { readonly kind: 'planned'; readonly jobs: readonly PlannedJob[] }
  /** Line, column and message of the fault. */
  | { readonly kind: 'faulty'; readonly fault: string }

/** Plans a deferred job. Never throws for what a file or the outputs of jobs may contain. */
export function planDeferred({ text, ...job }: DeferredInput): DeferredPlan {
  try {
    return { kind: 'planned', jobs: planDeferredJobs(readWorkflow(text), job) }
  } catch (error) {
    if (!(error instanceof FileFault)) throw error
    const { line, column } = error.position
    return { kind: 'faulty', fault: `${line}:${column}: ${error.message}` }
  }
}
