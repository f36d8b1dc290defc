/** Deletion of a run, with its jobs, tasks and logs. */

import { setImmediate } from 'node:timers/promises'
import { type Database, transaction } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import type { Run } from './runs.js'

/** Number of parts of logs, of at most about 256 KiB each, that one statement deletes. */
const PARTS = 50

/**
 * Deletes an ended run. Its number is not given again. The logs are deleted in small steps first:
 * a cascade would delete gigabytes in one statement.
 */
export async function removeRun(
  db: Database,
  { id, repositoryId, number }: Pick<Run, 'id' | 'repositoryId' | 'number'>,
): Promise<void> {
  const tasks = await selectRows<{ id: number }>(
    db,
    'select t.id from workflow_tasks t join workflow_jobs j on j.id = t.job_id where j.run_id = ?',
    [id],
  )
  for (const task of tasks) await removeParts(db, task.id)
  await transaction(db, async (trx) => {
    await trx('workflow_numbers')
      .insert({ repository_id: repositoryId, number })
      .onConflict('repository_id')
      .ignore()
    await trx('workflow_numbers')
      .where({ repository_id: repositoryId })
      .where('number', '<', number)
      .update({ number })
    await trx('workflow_runs').where({ id }).delete()
  })
}

async function removeParts(db: Database, taskId: number): Promise<void> {
  for (;;) {
    const rows: readonly { first_row: number }[] = await db('workflow_log_parts')
      .where({ task_id: taskId })
      .orderBy('first_row')
      .limit(PARTS)
      .select('first_row')
    const last = rows.at(-1)
    if (last === undefined) return
    await db('workflow_log_parts')
      .where({ task_id: taskId })
      .where('first_row', '<=', last.first_row)
      .delete()
    await setImmediate()
  }
}
