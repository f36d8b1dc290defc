/** Tables of second factors, recovery codes, and sign-ins that wait for a code. */

import type { Knex } from 'knex'
import { createTable } from '../database/dialect.js'

/** Creates the tables. */
export async function up(db: Knex): Promise<void> {
  await createTable(db, 'second_factors', {
    lines: [
      'user_id bigint not null primary key',
      'secret_sealed varchar(255) not null',
      // Time step of the last accepted code; codes of this step and of earlier ones are refused.
      'last_step bigint not null',
      // Null until a first code has proved that the app has the secret.
      'enrolled_at bigint',
      'constraint second_factors_user foreign key (user_id) references users (owner_id) on delete cascade',
    ],
  })
  await createTable(db, 'recovery_codes', {
    lines: [
      'user_id bigint not null',
      // SHA-256 of the code, in hexadecimal.
      'hash char(64) not null',
      'primary key (user_id, hash)',
      'constraint recovery_codes_factor foreign key (user_id) references second_factors (user_id) on delete cascade',
    ],
  })
  await createTable(db, 'sign_in_tickets', {
    lines: [
      // SHA-256 of the ticket that the browser keeps, in hexadecimal.
      'hash char(64) not null primary key',
      'user_id bigint not null',
      'tries_left int not null',
      'expires_at bigint not null',
      'constraint sign_in_tickets_user foreign key (user_id) references users (owner_id) on delete cascade',
    ],
    indexes: {
      sign_in_tickets_by_user: 'user_id',
      sign_in_tickets_by_end: 'expires_at',
    },
  })
}

/** Drops the tables. */
export async function down(db: Knex): Promise<void> {
  for (const table of ['sign_in_tickets', 'recovery_codes', 'second_factors']) {
    await db.schema.dropTableIfExists(table)
  }
}
