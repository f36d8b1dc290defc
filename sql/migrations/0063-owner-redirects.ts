/** Table of the former names of users and organizations. */

import type { Knex } from 'knex'
import { createTable } from '../database/dialect.js'

/** Creates the table. */
export async function up(db: Knex): Promise<void> {
  await createTable(db, 'owner_redirects', {
    lines: [
      'name_lower varchar(40) not null primary key',
      'owner_id bigint not null',
      'constraint owner_redirects_owner foreign key (owner_id) references owners (id) on delete cascade',
    ],
    indexes: { owner_redirects_by_owner: 'owner_id' },
  })
}

/** Drops the table. */
export async function down(db: Knex): Promise<void> {
  await db.schema.dropTableIfExists('owner_redirects')
}
