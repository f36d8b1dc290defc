/** Tables of security keys and of challenges that wait for a signature. */

import type { Knex } from 'knex'
import { createTable, ID } from '../database/dialect.js'

/** Creates the tables. */
export async function up(db: Knex): Promise<void> {
  await createTable(db, 'security_keys', {
    lines: [
      ID,
      'user_id bigint not null',
      'name varchar(100) not null',
      // Credential id that the key reports, in base64url; too long for an index.
      'credential_id text not null',
      // SHA-256 of the credential id, in hexadecimal.
      'credential_hash char(64) not null',
      // COSE_Key (RFC 9052 §7), in base64url.
      'public_key text not null',
      // Counter of the last accepted signature; 0 if the key does not count.
      'sign_counter bigint not null',
      'created_at bigint not null',
      'last_used_at bigint',
      'constraint security_keys_credential unique (credential_hash)',
      'constraint security_keys_factor foreign key (user_id) references second_factors (user_id) on delete cascade',
    ],
    indexes: { security_keys_by_user: 'user_id' },
  })
  await createTable(db, 'security_key_challenges', {
    lines: [
      // SHA-256 of the challenge, in hexadecimal.
      'hash char(64) not null primary key',
      'user_id bigint not null',
      // Sign-in that the challenge is for; null if it is for adding a key.
      'ticket_hash char(64)',
      'expires_at bigint not null',
      'constraint security_key_challenges_user foreign key (user_id) references users (owner_id) on delete cascade',
      'constraint security_key_challenges_ticket foreign key (ticket_hash) references sign_in_tickets (hash) on delete cascade',
    ],
    indexes: {
      security_key_challenges_by_user: 'user_id',
      security_key_challenges_by_ticket: 'ticket_hash',
      security_key_challenges_by_end: 'expires_at',
    },
  })
}

/** Drops the tables. */
export async function down(db: Knex): Promise<void> {
  await db.schema.dropTableIfExists('security_key_challenges')
  await db.schema.dropTableIfExists('security_keys')
}
