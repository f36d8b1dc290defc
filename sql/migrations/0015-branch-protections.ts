/** Tables of branch protection rules and of the users and teams that they exempt. */

import type { Knex } from 'knex'
import { createTable, ID } from '../database/dialect.js'

/** Creates the tables. */
export async function up(db: Knex): Promise<void> {
  await createTable(db, 'branch_protections', {
    lines: [
      ID,
      'repository_id bigint not null',
      'rule_name varchar(255) not null',
      'priority bigint not null',
      // Settings of the rule as JSON.
      'settings mediumtext not null',
      'created_at bigint not null',
      'updated_at bigint not null',
      'constraint branch_protections_name unique (repository_id, rule_name)',
      'constraint branch_protections_repository foreign key (repository_id) references repositories (id) on delete cascade',
    ],
  })
  await createTable(db, 'branch_protection_members', {
    lines: [
      ID,
      'protection_id bigint not null',
      "list varchar(20) not null check (list in ('push', 'force_push', 'merge', 'approvals'))",
      // Exactly one of the two is set.
      'user_id bigint',
      'team_id bigint',
      'constraint branch_protection_members_protection foreign key (protection_id) references branch_protections (id) on delete cascade',
      'constraint branch_protection_members_user foreign key (user_id) references users (owner_id) on delete cascade',
      'constraint branch_protection_members_team foreign key (team_id) references teams (id) on delete cascade',
    ],
    indexes: {
      branch_protection_members_by_protection: 'protection_id',
      branch_protection_members_by_user: 'user_id',
      branch_protection_members_by_team: 'team_id',
    },
  })
}

/** Drops the tables. */
export async function down(db: Knex): Promise<void> {
  for (const table of ['branch_protection_members', 'branch_protections']) {
    await db.schema.dropTableIfExists(table)
  }
}
