/** Tables of the users and organizations that users follow, and of the users whom owners block. */

import type { Knex } from 'knex'
import { createTable } from '../database/dialect.js'

/** Creates the tables. */
export async function up(db: Knex): Promise<void> {
  await createTable(db, 'follows', {
    lines: [
      'followed_id bigint not null',
      'user_id bigint not null',
      'created_at bigint not null',
      'primary key (followed_id, user_id)',
      'constraint follows_followed foreign key (followed_id) references owners (id) on delete cascade',
      'constraint follows_user foreign key (user_id) references users (owner_id) on delete cascade',
    ],
    indexes: { follows_by_user: 'user_id' },
  })
  await createTable(db, 'owner_blocks', {
    lines: [
      'owner_id bigint not null',
      'user_id bigint not null',
      'note varchar(255) not null',
      'created_at bigint not null',
      'primary key (owner_id, user_id)',
      'constraint owner_blocks_owner foreign key (owner_id) references owners (id) on delete cascade',
      'constraint owner_blocks_user foreign key (user_id) references users (owner_id) on delete cascade',
    ],
    indexes: { owner_blocks_by_user: 'user_id' },
  })
}

/** Drops the tables. */
export async function down(db: Knex): Promise<void> {
  for (const table of ['follows', 'owner_blocks']) await db.schema.dropTableIfExists(table)
}
