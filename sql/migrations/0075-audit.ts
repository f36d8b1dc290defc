/** Table of the audit log: changes of accounts, credentials, permissions, settings and rules. */

import type { Knex } from 'knex'
import { createTable, ID } from '../database/dialect.js'

/** Creates the table. */
export async function up(db: Knex): Promise<void> {
  await createTable(db, 'audit_entries', {
    lines: [
      ID,
      'created_at bigint not null',
      'action varchar(64) not null',
      // Without foreign keys: an entry outlives the accounts and tokens that it names.
      'actor_id bigint',
      'actor_name varchar(255) not null',
      'credential varchar(32) not null',
      'token_id bigint',
      'sudo_by varchar(255)',
      'address varchar(64)',
      'request_id varchar(64)',
      // Owner who may read the entry besides site administrators.
      'owner_id bigint',
      'subject varchar(512) not null',
      'details text not null',
      // Null while the change runs, and if its result is not known.
      'completed_at bigint',
    ],
    indexes: {
      audit_entries_by_time: 'created_at',
      audit_entries_by_owner: 'owner_id, id',
    },
  })
}

/** Drops the table. */
export async function down(db: Knex): Promise<void> {
  await db.schema.dropTableIfExists('audit_entries')
}
