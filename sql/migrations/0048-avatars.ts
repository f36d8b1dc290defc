/** Table of the pictures that users uploaded for accounts, organizations and repositories. */

import type { Knex } from 'knex'
import { createTable } from '../database/dialect.js'

/** Creates the table. Each row has either an owner or a repository. */
export async function up(db: Knex): Promise<void> {
  await createTable(db, 'avatars', {
    lines: [
      'hash char(64) not null primary key',
      'owner_id bigint',
      'repository_id bigint',
      // A PNG image.
      'picture mediumblob not null',
      'constraint avatars_of_owner unique (owner_id)',
      'constraint avatars_of_repository unique (repository_id)',
      'constraint avatars_owner foreign key (owner_id) references owners (id) on delete cascade',
      'constraint avatars_repository foreign key (repository_id) references repositories (id) on delete cascade',
    ],
  })
}

/** Drops the table. */
export async function down(db: Knex): Promise<void> {
  await db.schema.dropTableIfExists('avatars')
}
