/** Columns of workflow events whose payloads are rendered when the events happen. */

import type { Knex } from 'knex'
import { isMysql } from '../database/dialect.js'

const COLUMNS = {
  // Payload as JSON; null if it is rendered when the event is planned.
  payload: 'mediumtext',
  // Title of the runs; empty for the first line of the commit's message.
  title: "varchar(255) not null default ''",
}

/** Adds the columns. On MySQL this is one statement: a killed process leaves no partial change. */
export async function up(db: Knex): Promise<void> {
  if (isMysql(db)) {
    if (await db.schema.hasColumn('workflow_events', 'payload')) return
    const added = Object.entries(COLUMNS).map(([name, type]) => `add column ${name} ${type}`)
    await db.raw(`alter table workflow_events ${added.join(', ')}`)
    return
  }
  for (const [name, type] of Object.entries(COLUMNS)) {
    if (await db.schema.hasColumn('workflow_events', name)) continue
    await db.raw(`alter table workflow_events add column ${name} ${type}`)
  }
}

/** Drops the columns. */
export async function down(db: Knex): Promise<void> {
  for (const name of Object.keys(COLUMNS)) {
    if (!(await db.schema.hasColumn('workflow_events', name))) continue
    await db.raw(`alter table workflow_events drop column ${name}`)
  }
}
