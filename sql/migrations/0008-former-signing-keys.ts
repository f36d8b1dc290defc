/** Table of former signing keys, which keep signing indexes until a set time. */

import type { Knex } from 'knex'
import { createTable, ID } from '../database/dialect.js'

/** Creates the table. */
export async function up(db: Knex): Promise<void> {
  await createTable(db, 'former_signing_keys', {
    lines: [
      ID,
      'owner_id bigint not null',
      'format varchar(20) not null',
      'private_sealed mediumtext not null',
      'public_text mediumtext not null',
      'created_at bigint not null',
      'signs_until bigint not null',
      'constraint former_signing_keys_owner foreign key (owner_id) references owners (id) on delete cascade',
    ],
    indexes: {
      former_signing_keys_by_owner: 'owner_id, format',
      former_signing_keys_by_end: 'signs_until',
    },
  })
}

/** Drops the table. */
export async function down(db: Knex): Promise<void> {
  await db.schema.dropTableIfExists('former_signing_keys')
}
