/** Tables of tag protection rules and of the users and teams that they exempt. */

import type { Knex } from 'knex'
import { createTable, ID } from '../database/dialect.js'

/** Creates the tables. */
export async function up(db: Knex): Promise<void> {
  await createTable(db, 'tag_protections', {
    lines: [
      ID,
      'repository_id bigint not null',
      'name_pattern varchar(255) not null',
      'created_at bigint not null',
      'updated_at bigint not null',
      'constraint tag_protections_pattern unique (repository_id, name_pattern)',
      'constraint tag_protections_repository foreign key (repository_id) references repositories (id) on delete cascade',
    ],
  })
  await createTable(db, 'tag_protection_members', {
    lines: [
      ID,
      'protection_id bigint not null',
      // Exactly one of the two is set.
      'user_id bigint',
      'team_id bigint',
      'constraint tag_protection_members_protection foreign key (protection_id) references tag_protections (id) on delete cascade',
      'constraint tag_protection_members_user foreign key (user_id) references users (owner_id) on delete cascade',
      'constraint tag_protection_members_team foreign key (team_id) references teams (id) on delete cascade',
    ],
    indexes: {
      tag_protection_members_by_protection: 'protection_id',
      tag_protection_members_by_user: 'user_id',
      tag_protection_members_by_team: 'team_id',
    },
  })
}

/** Drops the tables. */
export async function down(db: Knex): Promise<void> {
  for (const table of ['tag_protection_members', 'tag_protections']) {
    await db.schema.dropTableIfExists(table)
  }
}
