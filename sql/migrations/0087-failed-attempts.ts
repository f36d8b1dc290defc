/** Table of the failed sign-ins that all gateways of the database count together. */

import type { Knex } from 'knex'
import { createTable } from '../database/dialect.js'

/** Creates the table. */
export async function up(db: Knex): Promise<void> {
  await createTable(db, 'failed_attempts', {
    lines: [
      // Keyed hash, so that the table names neither addresses nor accounts.
      'key_hash varchar(64) not null primary key',
      'failures bigint not null',
      'ends_at bigint not null',
    ],
    indexes: { failed_attempts_by_end: 'ends_at' },
  })
}

/** Drops the table. */
export async function down(db: Knex): Promise<void> {
  await db.schema.dropTableIfExists('failed_attempts')
}
