/** Table of web sessions. */

import type { Knex } from 'knex'
import { createTable, ID } from '../database/dialect.js'

/** Creates the table. */
export async function up(db: Knex): Promise<void> {
  await createTable(db, 'sessions', {
    lines: [
      ID,
      'user_id bigint not null',
      // SHA-256 of the token that the browser keeps, in hexadecimal.
      'hash char(64) not null',
      'address varchar(64) not null',
      'agent varchar(255) not null',
      'created_at bigint not null',
      'last_used_at bigint not null',
      'expires_at bigint not null',
      'constraint sessions_hash unique (hash)',
      'constraint sessions_user foreign key (user_id) references users (owner_id) on delete cascade',
    ],
    indexes: { sessions_by_user: 'user_id', sessions_by_end: 'expires_at' },
  })
}

/** Drops the table. */
export async function down(db: Knex): Promise<void> {
  await db.schema.dropTableIfExists('sessions')
}
