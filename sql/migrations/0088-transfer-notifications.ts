/** Notifications of pending transfers. */

import type { Knex } from 'knex'
import { isMysql } from '../database/dialect.js'

const REFERENCE = 'references repository_transfers (repository_id) on delete cascade'

const ONCE = 'notifications_transfer'
const ONCE_COLUMNS = '(user_id, transfer_of)'
const INDEX = 'notifications_by_transfer'
const FOREIGN_KEY = 'notifications_of_transfer'

/** Adds the column: exactly one of issue, release, run and transfer is set. */
export async function up(db: Knex): Promise<void> {
  const isAdded = await db.schema.hasColumn('notifications', 'transfer_of')
  if (isMysql(db)) {
    if (isAdded) return
    // A single statement, of which a killed process leaves no part.
    await db.raw(`alter table notifications add column transfer_of bigint,
      add constraint ${ONCE} unique ${ONCE_COLUMNS}, add index ${INDEX} (transfer_of),
      add constraint ${FOREIGN_KEY} foreign key (transfer_of) ${REFERENCE}`)
    return
  }
  if (!isAdded) await db.raw(`alter table notifications add column transfer_of bigint ${REFERENCE}`)
  await db.raw(`create unique index if not exists ${ONCE} on notifications ${ONCE_COLUMNS}`)
  await db.raw(`create index if not exists ${INDEX} on notifications (transfer_of)`)
}

/** Drops the column, with the notifications of transfers. */
export async function down(db: Knex): Promise<void> {
  if (!(await db.schema.hasColumn('notifications', 'transfer_of'))) return
  await db('notifications').whereNotNull('transfer_of').delete()
  if (isMysql(db)) {
    await db.raw(`alter table notifications drop foreign key ${FOREIGN_KEY},
      drop key ${ONCE}, drop key ${INDEX}, drop column transfer_of`)
    return
  }
  await db.raw(`drop index if exists ${ONCE}`)
  await db.raw(`drop index if exists ${INDEX}`)
  await db.raw('alter table notifications drop column transfer_of')
}
