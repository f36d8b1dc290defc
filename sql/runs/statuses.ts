/** Statuses of workflow runs and of their jobs. */

/** Statuses of runs and jobs; those after `cancelling` are final. */
export const RUN_STATUSES = [
  'blocked',
  'waiting',
  'running',
  'cancelling',
  'success',
  'failure',
  'cancelled',
  'skipped',
] as const

export type RunStatus = (typeof RUN_STATUSES)[number]

/** Final statuses. */
export type RunConclusion = Extract<RunStatus, 'success' | 'failure' | 'cancelled' | 'skipped'>

/** True if a run or job with this status has ended. */
export function isFinal(status: RunStatus): status is RunConclusion {
  return RUN_STATUSES.indexOf(status) > RUN_STATUSES.indexOf('cancelling')
}
