/** Notifications of workflow runs. */

import type { Knex } from 'knex'
import { isMysql } from '../database/dialect.js'

const REFERENCE = 'references workflow_runs (id) on delete cascade'

const ONCE = 'notifications_run'
const ONCE_COLUMNS = '(user_id, run_id)'
const INDEX = 'notifications_by_run'
const FOREIGN_KEY = 'notifications_of_run'

/** Adds the column: exactly one of issue, release and run is set. */
export async function up(db: Knex): Promise<void> {
  const isAdded = await db.schema.hasColumn('notifications', 'run_id')
  if (isMysql(db)) {
    if (isAdded) return
    // A single statement, of which a killed process leaves no part.
    await db.raw(`alter table notifications add column run_id bigint,
      add constraint ${ONCE} unique ${ONCE_COLUMNS}, add index ${INDEX} (run_id),
      add constraint ${FOREIGN_KEY} foreign key (run_id) ${REFERENCE}`)
    return
  }
  if (!isAdded) await db.raw(`alter table notifications add column run_id bigint ${REFERENCE}`)
  await db.raw(`create unique index if not exists ${ONCE} on notifications ${ONCE_COLUMNS}`)
  await db.raw(`create index if not exists ${INDEX} on notifications (run_id)`)
}

/** Drops the column, with the notifications of runs. */
export async function down(db: Knex): Promise<void> {
  if (!(await db.schema.hasColumn('notifications', 'run_id'))) return
  await db('notifications').whereNotNull('run_id').delete()
  if (isMysql(db)) {
    await db.raw(`alter table notifications drop foreign key ${FOREIGN_KEY},
      drop key ${ONCE}, drop key ${INDEX}, drop column run_id`)
    return
  }
  await db.raw(`drop index if exists ${ONCE}`)
  await db.raw(`drop index if exists ${INDEX}`)
  await db.raw('alter table notifications drop column run_id')
}
