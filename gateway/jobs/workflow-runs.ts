/** Jobs of workflow automation: planning of events, and the end of what will not end by itself. */

import type { JobKind } from './job.js'

/** Kind of the job that plans an event; its subject is the event's id. */
export const PLAN_EVENT = 'plan-event'
/** Kind of the job that plans a deferred job of a workflow; its subject is that job's id. */
export const PLAN_JOB = 'plan-job'
export const SWEEP_RUNS = 'sweep-runs'

const SWEEP_EVERY_MS = 60_000

/** Actions of the jobs, which need more than jobs have. */
export interface RunActions {
  readonly planEvent: (eventId: number) => Promise<void>
  readonly planJob: (jobId: number) => Promise<void>
  readonly sweepRuns: () => Promise<void>
}

/** Returns the kinds of jobs that call these actions. */
export function workflowJobsWith({
  planEvent,
  planJob,
  sweepRuns,
}: RunActions): readonly JobKind[] {
  return [
    { kind: PLAN_EVENT, storesData: true, run: (_, subject) => planEvent(Number(subject)) },
    { kind: PLAN_JOB, storesData: true, run: (_, subject) => planJob(Number(subject)) },
    { kind: SWEEP_RUNS, everyMs: SWEEP_EVERY_MS, run: () => sweepRuns() },
  ]
}
