/** Table of the backups that were made, for `/metrics` and `gatehouse doctor`. */

import type { Knex } from 'knex'
import { createTable, ID } from '../database/dialect.js'

/** Creates the table. */
export async function up(db: Knex): Promise<void> {
  await createTable(db, 'backups', {
    lines: [
      ID,
      // Folder of the backup, or the program that read the snapshot.
      'target varchar(1000) not null',
      'started_at bigint not null',
      'ended_at bigint not null',
      'outcome varchar(16) not null',
      // Null if the outcome is `complete`.
      'problem varchar(1000)',
    ],
  })
}

/** Drops the table. */
export async function down(db: Knex): Promise<void> {
  await db.schema.dropTableIfExists('backups')
}
