/** Results of the runner protocol, and the statuses that they mean. */

import type { RunConclusion, RunStatus } from '../../sql/runs/statuses.js'
import { Result } from '../runner-protocol/messages.js'

const RESULTS: Readonly<Record<RunConclusion, Result>> = {
  success: Result.SUCCESS,
  failure: Result.FAILURE,
  cancelled: Result.CANCELLED,
  skipped: Result.SKIPPED,
}

/** Returns the result of a status; a job that is being cancelled is cancelled for its runner. */
export function resultOf(status: RunStatus): Result {
  if (status === 'cancelling') return Result.CANCELLED
  return RESULTS[status as RunConclusion] ?? Result.UNSPECIFIED
}

/** Returns the status of a result; undefined while there is no result. */
export function conclusionOf(result: Result): RunConclusion | undefined {
  const found = Object.entries(RESULTS).find(([, candidate]) => candidate === result)
  return found?.[0] as RunConclusion | undefined
}
