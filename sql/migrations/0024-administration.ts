/** Table of site-wide settings, and the last error of jobs. */

import type { Knex } from 'knex'
import { createTable } from '../database/dialect.js'

/** Creates the table, and adds the column. */
export async function up(db: Knex): Promise<void> {
  await createTable(db, 'site', {
    lines: [
      // Id of the only row; while there is none, all settings have their defaults.
      'id integer primary key',
      'is_registration_open boolean not null default 0',
      // Incremented by each write, which locks the row on every node until the transaction ends.
      'changes bigint not null',
    ],
  })
  if (await db.schema.hasColumn('jobs', 'last_error')) return
  await db.raw('alter table jobs add column last_error varchar(500)')
}

/** Drops the table and the column. */
export async function down(db: Knex): Promise<void> {
  await db.schema.dropTableIfExists('site')
  if (!(await db.schema.hasColumn('jobs', 'last_error'))) return
  await db.raw('alter table jobs drop column last_error')
}
