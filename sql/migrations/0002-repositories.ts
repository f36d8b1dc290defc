/** Tables of repositories, their former names and their collaborators. */

import type { Knex } from 'knex'
import { createTable, ID } from '../database/dialect.js'

/** Creates the tables. */
export async function up(db: Knex): Promise<void> {
  await createRepositories(db)
  await createTable(db, 'collaborators', {
    lines: [
      'repository_id bigint not null',
      'user_id bigint not null',
      "mode varchar(20) not null check (mode in ('read', 'write', 'admin'))",
      'primary key (repository_id, user_id)',
      'constraint collaborators_repository foreign key (repository_id) references repositories (id) on delete cascade',
      'constraint collaborators_user foreign key (user_id) references users (owner_id) on delete cascade',
    ],
    indexes: { collaborators_by_user: 'user_id' },
  })
  await createTable(db, 'repository_redirects', {
    lines: [
      'owner_id bigint not null',
      'name_lower varchar(100) not null',
      'repository_id bigint not null',
      'primary key (owner_id, name_lower)',
      'constraint repository_redirects_owner foreign key (owner_id) references owners (id) on delete cascade',
      'constraint repository_redirects_repository foreign key (repository_id) references repositories (id) on delete cascade',
    ],
    indexes: { repository_redirects_by_repository: 'repository_id' },
  })
}

async function createRepositories(db: Knex): Promise<void> {
  await createTable(db, 'repositories', {
    lines: [
      ID,
      'owner_id bigint not null',
      'name varchar(100) not null',
      'name_lower varchar(100) not null',
      'storage char(32) not null',
      'description text not null',
      'website varchar(2048) not null',
      'is_private boolean not null',
      'is_archived boolean not null',
      'archived_at bigint',
      'is_template boolean not null',
      'is_empty boolean not null',
      'default_branch varchar(255) not null',
      "object_format varchar(10) not null check (object_format in ('sha1', 'sha256'))",
      'size_kib bigint not null',
      'preferences text not null',
      'created_at bigint not null',
      'updated_at bigint not null',
      'pushed_at bigint',
      'constraint repositories_name unique (owner_id, name_lower)',
      'constraint repositories_storage unique (storage)',
      // No `on delete`: an owner cannot be deleted while it owns repositories.
      'constraint repositories_owner foreign key (owner_id) references owners (id)',
    ],
  })
}

/** Drops the tables. */
export async function down(db: Knex): Promise<void> {
  const tables = ['repository_redirects', 'collaborators', 'repositories']
  for (const table of tables) await db.schema.dropTableIfExists(table)
}
