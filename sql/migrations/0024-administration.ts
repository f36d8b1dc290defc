/** What those who run the site decide for all of it, and why jobs failed. */

import type { Knex } from 'knex'
import { createTable } from '../database/dialect.js'

/** Creates the table, and adds the column. */
export async function up(db: Knex): Promise<void> {
  await createTable(db, 'site', {
    lines: [
      // Of the one row; until there is one, nothing has been decided.
      'id integer primary key',
      'is_registration_open boolean not null default 0',
      // Counts each write: whoever writes it first has the row to itself, on every node.
      'changes bigint not null',
    ],
  })
  if (await db.schema.hasColumn('jobs', 'last_error')) return
  await db.raw('alter table jobs add column last_error varchar(500)')
}

/** Drops them. */
export async function down(db: Knex): Promise<void> {
  await db.schema.dropTableIfExists('site')
  if (!(await db.schema.hasColumn('jobs', 'last_error'))) return
  await db.raw('alter table jobs drop column last_error')
}
