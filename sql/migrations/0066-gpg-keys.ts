/** Table of OpenPGP keys, by which signatures of commits are verified. */

import type { Knex } from 'knex'
import { createTable, ID } from '../database/dialect.js'

/** Creates the table. */
export async function up(db: Knex): Promise<void> {
  await createTable(db, 'gpg_keys', {
    lines: [
      ID,
      'user_id bigint not null',
      'fingerprint varchar(64) not null',
      // The key with its subkeys and user ids, in base64.
      'content mediumtext not null',
      // JSON of the facts that are read from the content once.
      'details mediumtext not null',
      // True if the user has signed a token with the key.
      'is_verified boolean not null',
      'created_at bigint not null',
      'constraint gpg_keys_fingerprint unique (fingerprint)',
      'constraint gpg_keys_user foreign key (user_id) references users (owner_id) on delete cascade',
    ],
    indexes: { gpg_keys_by_user: 'user_id' },
  })
}

/** Drops the table. */
export async function down(db: Knex): Promise<void> {
  await db.schema.dropTableIfExists('gpg_keys')
}
