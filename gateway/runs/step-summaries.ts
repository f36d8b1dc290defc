/** Summaries of steps, which runners send and pages show. */

import { Failure } from '../../conf/failures.js'
import { type StepSummary, storeSummary } from '../../sql/runs/step-summaries.js'
import type { Task } from '../../sql/runs/tasks.js'
import type { Context } from '../request/context.js'
import { maskRows } from './task-masks.js'

/** Maximum size of a summary, and of those of a task. */
export const SUMMARY_BYTES_MAX = 1_048_576
export const TASK_SUMMARIES_BYTES_MAX = 4_194_304

/** Maximum number of steps of a job. */
const STEPS_MAX = 1_000

/**
 * Stores the summary of a step without secrets, in place of an earlier one. Throws `bad_request`
 * for a wrong step, and `payload_too_large`.
 */
export async function storeStepSummary(
  context: Context,
  task: Task,
  { step, content }: Omit<StepSummary, 'taskId'>,
): Promise<void> {
  if (!(step >= 0 && step < STEPS_MAX)) {
    throw new Failure('bad_request', `The step ${step} does not exist.`)
  }
  if (Buffer.byteLength(content) > SUMMARY_BYTES_MAX) {
    const message = `The summary of a step has more than ${SUMMARY_BYTES_MAX} bytes.`
    throw new Failure('payload_too_large', message)
  }
  const lines = await maskRows(context, task, content.split('\n'))
  const summary = { taskId: task.id, step, content: lines.join('\n') }
  await storeSummary(context.db, summary, TASK_SUMMARIES_BYTES_MAX)
}
