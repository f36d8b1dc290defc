/** Schedules of workflows, with the times at which they are due. */

import type { Database } from '../database/database.js'
import { transaction } from '../database/database.js'
import { selectRows } from '../database/dialect.js'

/** A cron expression of a workflow file on the default branch. */
export interface NewSchedule {
  /** Name of the file, without its folder. */
  readonly file: string
  readonly cron: string
  readonly nextAtMs: number
}

export interface Schedule extends NewSchedule {
  readonly id: number
  readonly repositoryId: number
}

/**
 * Replaces the schedules of a repository that exists. Those that it has already keep their time, so
 * that one which is due is not lost.
 */
export async function replaceSchedules(
  db: Database,
  repositoryId: number,
  schedules: readonly NewSchedule[],
): Promise<void> {
  const wanted = new Set(schedules.map(keyOf))
  await transaction(db, async (trx) => {
    const current = await listSchedules(trx, repositoryId)
    const removed = current.filter((schedule) => !wanted.has(keyOf(schedule)))
    await trx('workflow_schedules')
      .whereIn(
        'id',
        removed.map(({ id }) => id),
      )
      .delete()
    const known = new Set(current.map(keyOf))
    const added = schedules.filter((schedule) => !known.has(keyOf(schedule)))
    if (added.length === 0) return
    await trx('workflow_schedules')
      .insert(
        added.map(({ file, cron, nextAtMs }) => ({
          repository_id: repositoryId,
          workflow_file: file,
          cron,
          next_at: nextAtMs,
        })),
      )
      .onConflict(['repository_id', 'workflow_file', 'cron'])
      .ignore()
  })
}

function keyOf({ file, cron }: Pick<NewSchedule, 'file' | 'cron'>): string {
  return `${file} ${cron}`
}

const COLUMNS = 's.id, s.repository_id, s.workflow_file, s.cron, s.next_at'

/** Returns the schedules of a repository, in the order of their files and expressions. */
export async function listSchedules(
  db: Database,
  repositoryId: number,
): Promise<readonly Schedule[]> {
  const rows = await selectRows<ScheduleRow>(
    db,
    `select ${COLUMNS} from workflow_schedules s where s.repository_id = ?
      order by s.workflow_file, s.cron`,
    [repositoryId],
  )
  return rows.map(scheduleOf)
}

/** Returns at most `limit` schedules that are due, longest due first. */
export async function listDueSchedules(
  db: Database,
  nowMs: number,
  limit: number,
): Promise<readonly Schedule[]> {
  const rows = await selectRows<ScheduleRow>(
    db,
    `select ${COLUMNS} from workflow_schedules s where s.next_at <= ?
      order by s.next_at, s.id limit ?`,
    [nowMs, limit],
  )
  return rows.map(scheduleOf)
}

/**
 * Sets the next time of a schedule, unless another process has done so. A schedule without a next
 * time is removed.
 */
export async function moveSchedule(
  db: Database,
  { id, nextAtMs }: Schedule,
  toMs: number | undefined,
): Promise<void> {
  const row = db('workflow_schedules').where({ id, next_at: nextAtMs })
  await (toMs === undefined ? row.delete() : row.update({ next_at: toMs }))
}

interface ScheduleRow {
  readonly id: number
  readonly repository_id: number
  readonly workflow_file: string
  readonly cron: string
  readonly next_at: number
}

function scheduleOf(row: ScheduleRow): Schedule {
  return {
    id: row.id,
    repositoryId: row.repository_id,
    file: row.workflow_file,
    cron: row.cron,
    nextAtMs: row.next_at,
  }
}
