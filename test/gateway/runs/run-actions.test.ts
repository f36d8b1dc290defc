/** Changes of runs that are events: creation, the beginning of the first job, and the end. */

import t from 'tap'
import { runActions } from '../../../gateway/runs/run-actions.js'
import type { Run } from '../../../sql/runs/runs.js'
import type { RunStatus } from '../../../sql/runs/statuses.js'

function aRun(status: RunStatus, startedAtMs?: number): Run {
  return { status, startedAtMs } as Run
}

t.test('each step of a run is one change', async (t) => {
  const rows: ReadonlyArray<readonly [Run | undefined, Run, readonly string[]]> = [
    [undefined, aRun('waiting'), ['requested']],
    [undefined, aRun('skipped'), ['requested', 'completed']],
    [aRun('waiting'), aRun('waiting'), []],
    [aRun('waiting'), aRun('running', 1), ['in_progress']],
    // The claim of the only job was released, and the job is claimed again.
    [aRun('running', 1), aRun('waiting', 1), []],
    [aRun('waiting', 1), aRun('running', 1), []],
    [aRun('running', 1), aRun('cancelling', 1), []],
    [aRun('running', 1), aRun('success', 1), ['completed']],
    [aRun('waiting'), aRun('cancelled'), ['completed']],
    [aRun('success', 1), aRun('success', 1), []],
  ]
  for (const [before, after, expected] of rows) {
    t.strictSame(runActions(before, after), expected, `${before?.status} to ${after.status}`)
  }
})
