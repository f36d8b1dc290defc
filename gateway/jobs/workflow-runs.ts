/** Jobs of workflow automation: planning of events, sweeps and schedules. */

import type { JobKind } from './job.js'

/** Kind of the job that plans an event; its subject is the event's id. */
export const PLAN_EVENT = 'plan-event'
/** Kind of the job that plans a deferred job of a workflow; its subject is that job's id. */
export const PLAN_JOB = 'plan-job'
const SWEEP_RUNS = 'sweep-runs'
/** Kind of the job that rebuilds the schedules of a repository; its subject is that one's id. */
export const REFRESH_SCHEDULES = 'refresh-schedules'
const START_SCHEDULES = 'start-schedules'

/** All kinds of workflow automation, which have a runner of their own. */
export const WORKFLOW_KINDS: readonly string[] = [
  PLAN_EVENT,
  PLAN_JOB,
  SWEEP_RUNS,
  REFRESH_SCHEDULES,
  START_SCHEDULES,
]

const SWEEP_EVERY_MS = 60_000
const START_EVERY_MS = 60_000

/** Actions of the jobs, which need more than jobs have. */
export interface RunActions {
  readonly planEvent: (eventId: number) => Promise<void>
  readonly planJob: (jobId: number) => Promise<void>
  readonly sweepRuns: () => Promise<void>
  readonly refreshSchedules: (repositoryId: number) => Promise<void>
  readonly startSchedules: () => Promise<void>
}

/** Returns the kinds of jobs that call these actions. */
export function workflowJobsWith({
  planEvent,
  planJob,
  sweepRuns,
  refreshSchedules,
  startSchedules,
}: RunActions): readonly JobKind[] {
  return [
    { kind: PLAN_EVENT, storesData: true, run: (_, subject) => planEvent(Number(subject)) },
    { kind: PLAN_JOB, storesData: true, run: (_, subject) => planJob(Number(subject)) },
    { kind: SWEEP_RUNS, everyMs: SWEEP_EVERY_MS, run: () => sweepRuns() },
    {
      kind: REFRESH_SCHEDULES,
      storesData: true,
      run: (_, subject) => refreshSchedules(Number(subject)),
    },
    {
      kind: START_SCHEDULES,
      everyMs: START_EVERY_MS,
      storesData: true,
      run: () => startSchedules(),
    },
  ]
}
