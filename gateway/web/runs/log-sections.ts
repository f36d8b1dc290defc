/** Sections of a job's log: its steps, and the rows before and after them. */

import type { RunJob } from '../../../sql/runs/run-jobs.js'
import { isFinal, type RunStatus } from '../../../sql/runs/statuses.js'
import type { Task, TaskStep } from '../../../sql/runs/tasks.js'
import type { Period } from './run-status.js'

export interface LogSection extends Period {
  readonly name: string
  /** Undefined for steps that have not begun, and for the rows around the steps. */
  readonly status: RunStatus | undefined
  /** Index of the first row within the log. */
  readonly firstRow: number
  /** Index after the last row. */
  readonly endRow: number
}

export interface JobLog {
  readonly job: Pick<RunJob, 'status' | 'stepNames'>
  /** Undefined if no runner has claimed the job. */
  readonly task: Pick<Task, 'steps'> | undefined
  /** Number of stored rows. */
  readonly rows: number
}

const UNTIMED = { startedAtMs: undefined, stoppedAtMs: undefined, status: undefined }

/**
 * Divides the rows among the sections, so that each row is in exactly one, whatever rows the runner
 * reports for the steps. The section at index 0 precedes the first step.
 */
export function sectionsOf({ job, task, rows }: JobLog): readonly LogSection[] {
  const steps = job.stepNames.map((name, at) => ({ name, state: task?.steps[at] }))
  const last = steps.findLast(({ state }) => hasRows(state))?.state
  const isOpen = last === undefined || statusOf(job, last) === 'running'
  let endRow = isOpen ? rows : within(last.firstRow + last.rowCount, rows)
  const sections: LogSection[] = [{ ...UNTIMED, name: 'Complete', firstRow: endRow, endRow: rows }]
  for (const { name, state } of steps.toReversed()) {
    const firstRow = hasRows(state) ? within(state.firstRow, endRow) : endRow
    const { startedAtMs, stoppedAtMs } = state ?? UNTIMED
    const status = statusOf(job, state)
    sections.unshift({ name, status, startedAtMs, stoppedAtMs, firstRow, endRow })
    endRow = firstRow
  }
  // Without rows of steps, the preparation is all that has happened.
  const status = last === undefined ? job.status : undefined
  return [{ ...UNTIMED, name: 'Set up', status, firstRow: 0, endRow }, ...sections]
}

function hasRows(state: TaskStep | undefined): state is TaskStep {
  return state !== undefined && state.rowCount > 0
}

function within(row: number, rowMax: number): number {
  return Math.max(0, Math.min(row, rowMax))
}

function statusOf({ status }: JobLog['job'], state: TaskStep | undefined): RunStatus | undefined {
  if (state === undefined || state.result !== undefined) return state?.result
  return state.startedAtMs !== undefined && !isFinal(status) ? 'running' : undefined
}
