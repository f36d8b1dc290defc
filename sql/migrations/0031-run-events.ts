/** Columns of workflow events whose payloads are rendered when they happen, and of their runs. */

import type { Knex } from 'knex'
import { isMysql } from '../database/dialect.js'

// Number of runs of which each was started by a change of the one before.
const DEPTH = { chain_depth: 'integer not null default 0' }

/** Table → its new columns. */
const COLUMNS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  workflow_events: {
    // Payload as JSON; null if it is rendered when the event is planned.
    payload: 'mediumtext',
    // Title of the runs; empty for the first line of the commit's message.
    title: "varchar(255) not null default ''",
    ...DEPTH,
  },
  workflow_runs: DEPTH,
}

/** Adds the columns. On MySQL, each table is changed by one statement, or not at all. */
export async function up(db: Knex): Promise<void> {
  for (const [table, columns] of Object.entries(COLUMNS)) {
    const missing: string[] = []
    for (const [name, type] of Object.entries(columns)) {
      if (!(await db.schema.hasColumn(table, name))) missing.push(`add column ${name} ${type}`)
    }
    const statements = isMysql(db) && missing.length > 0 ? [missing.join(', ')] : missing
    for (const clauses of statements) await db.raw(`alter table ${table} ${clauses}`)
  }
}

/** Drops the columns. */
export async function down(db: Knex): Promise<void> {
  for (const [table, columns] of Object.entries(COLUMNS)) {
    for (const name of Object.keys(columns)) {
      if (!(await db.schema.hasColumn(table, name))) continue
      await db.raw(`alter table ${table} drop column ${name}`)
    }
  }
}
