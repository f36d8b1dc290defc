/** Table of the counter of changes, with which gateways validate cached results of MySQL. */

import type { Knex } from 'knex'
import { CHANGE_COUNTER_TABLE } from '../database/change-counter.js'
import { createTable, isMysql } from '../database/dialect.js'

/** Creates the table. SQLite counts changes itself. */
export async function up(db: Knex): Promise<void> {
  if (!isMysql(db)) return
  const lines = [
    'id int not null primary key',
    'epoch char(36) not null',
    'changes bigint not null',
  ]
  try {
    await createTable(db, CHANGE_COUNTER_TABLE, { lines, isInMemory: true })
  } catch (error) {
    // Clusters of MySQL disable tables in memory. Without the table, nothing is cached.
    if (!isEngineDisabled(error)) throw error
  }
}

function isEngineDisabled(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ER_DISABLED_STORAGE_ENGINE'
}

/** Drops the table. */
export async function down(db: Knex): Promise<void> {
  await db.schema.dropTableIfExists(CHANGE_COUNTER_TABLE)
}
