/** Table of holds, during which nothing is removed that a backup may still copy. */

import type { Knex } from 'knex'
import { createTable, ID } from '../database/dialect.js'

/** Creates the table. */
export async function up(db: Knex): Promise<void> {
  await createTable(db, 'holds', {
    lines: [ID, 'kind varchar(20) not null', 'held_until bigint not null'],
  })
}

/** Drops the table. */
export async function down(db: Knex): Promise<void> {
  await db.schema.dropTableIfExists('holds')
}
