/** Summaries that the steps of jobs write, as Markdown. */

import { Failure } from '../../conf/failures.js'
import { type Database, transaction } from '../database/database.js'
import { selectRows } from '../database/dialect.js'

/** Summary of a step. */
export interface StepSummary {
  readonly taskId: number
  /** Number of the step, as its runner counts. */
  readonly step: number
  readonly content: string
}

/**
 * Stores a summary in place of an earlier one of the step; an empty one is deleted. Throws
 * `payload_too_large` if the summaries of the task would have more than `bytesMax`. Has no effect
 * if the task does not exist.
 */
export async function storeSummary(
  db: Database,
  { taskId, step, content }: StepSummary,
  bytesMax: number,
): Promise<void> {
  await transaction(db, async (trx) => {
    // Serializes the calls of a task, so that concurrent ones are counted.
    const task = await trx('workflow_tasks').where({ id: taskId }).forUpdate().first('id')
    if (task === undefined) return
    await trx('workflow_summaries').where({ task_id: taskId, step }).delete()
    if (content === '') return
    const bytes = Buffer.byteLength(content)
    const total = (await listSizes(trx, [taskId])).reduce((sum, row) => sum + row.bytes, bytes)
    if (total > bytesMax) {
      const message = `The summaries of a job have more than ${bytesMax} bytes.`
      throw new Failure('payload_too_large', message)
    }
    await trx('workflow_summaries').insert({ task_id: taskId, step, content, bytes })
  })
}

/** Summaries of tasks within a limit. */
export interface ListedSummaries {
  readonly summaries: readonly StepSummary[]
  /** True if some are left out. */
  readonly isCut: boolean
}

/** Returns the summaries of tasks, in the order of these and of the steps, up to `bytesMax`. */
export async function listSummaries(
  db: Database,
  taskIds: readonly number[],
  bytesMax: number,
): Promise<ListedSummaries> {
  const sizes = await listSizes(db, taskIds)
  const places = new Map(taskIds.map((id, at) => [id, at]))
  const ordered = sizes.toSorted(
    (one, other) =>
      (places.get(one.taskId) ?? 0) - (places.get(other.taskId) ?? 0) || one.step - other.step,
  )
  let left = bytesMax
  const end = ordered.findIndex(({ bytes }) => {
    left -= bytes
    return left < 0
  })
  const listed = end === -1 ? ordered : ordered.slice(0, end)
  const contents = await readContents(db, [...new Set(listed.map(({ taskId }) => taskId))])
  const summaries = listed.flatMap(({ taskId, step }) => {
    const content = contents.get(`${taskId} ${step}`)
    return content === undefined ? [] : [{ taskId, step, content }]
  })
  return { summaries, isCut: end !== -1 }
}

/** Returns the contents of all summaries of tasks, by the ids of these and the steps. */
async function readContents(
  db: Database,
  taskIds: readonly number[],
): Promise<ReadonlyMap<string, string>> {
  const rows: readonly { task_id: number; step: number; content: string }[] = await db(
    'workflow_summaries',
  )
    .whereIn('task_id', taskIds)
    .select('task_id', 'step', 'content')
  return new Map(rows.map(({ task_id, step, content }) => [`${task_id} ${step}`, content]))
}

interface SummarySize extends Omit<StepSummary, 'content'> {
  readonly bytes: number
}

async function listSizes(
  db: Database,
  taskIds: readonly number[],
): Promise<readonly SummarySize[]> {
  if (taskIds.length === 0) return []
  const rows = await selectRows<{ task_id: number; step: number; bytes: number }>(
    db,
    `select s.task_id, s.step, s.bytes from workflow_summaries s
      where s.task_id in (${taskIds.map(() => '?').join()})`,
    taskIds,
  )
  return rows.map(({ task_id: taskId, step, bytes }) => ({ taskId, step, bytes }))
}
