/** Changes of runs that are events of their own. */

import type { Run } from '../../sql/runs/runs.js'
import { isFinal } from '../../sql/runs/statuses.js'
import type { RunChanged } from '../request/events.js'

/** Returns the changes of a run, in their order; `before` is undefined if the run is new. */
export function runActions(before: Run | undefined, after: Run): readonly RunChanged['action'][] {
  const isBegun = before?.startedAtMs === undefined && after.startedAtMs !== undefined
  const isEnded = isFinal(after.status) && !(before !== undefined && isFinal(before.status))
  return [
    ...(before === undefined ? (['requested'] as const) : []),
    ...(isBegun ? (['in_progress'] as const) : []),
    ...(isEnded ? (['completed'] as const) : []),
  ]
}
