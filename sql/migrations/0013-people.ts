/** Tables of team repositories, public members, user settings, forks and topics. */

import type { Knex } from 'knex'
import { createTable, ID } from '../database/dialect.js'

/** Columns that this migration adds to `teams`. */
const TEAM_COLUMNS = {
  description: "varchar(255) not null default ''",
  units: "varchar(2000) not null default ''",
} as const

/** Creates the tables, and adds the columns of `teams`. */
export async function up(db: Knex): Promise<void> {
  for (const [name, type] of Object.entries(TEAM_COLUMNS)) {
    if (await db.schema.hasColumn('teams', name)) continue
    await db.raw(`alter table teams add column ${name} ${type}`)
  }
  await createTable(db, 'team_repositories', {
    lines: [
      'team_id bigint not null',
      'repository_id bigint not null',
      'primary key (team_id, repository_id)',
      'constraint team_repositories_team foreign key (team_id) references teams (id) on delete cascade',
      'constraint team_repositories_repository foreign key (repository_id) references repositories (id) on delete cascade',
    ],
    indexes: { team_repositories_by_repository: 'repository_id' },
  })
  await createTable(db, 'public_members', {
    lines: [
      'organization_id bigint not null',
      'user_id bigint not null',
      'primary key (organization_id, user_id)',
      'constraint public_members_organization foreign key (organization_id) references organizations (owner_id) on delete cascade',
      'constraint public_members_user foreign key (user_id) references users (owner_id) on delete cascade',
    ],
  })
  await createTable(db, 'user_settings', {
    lines: [
      'user_id bigint not null primary key',
      'settings text not null',
      'constraint user_settings_user foreign key (user_id) references users (owner_id) on delete cascade',
    ],
  })
  await createTable(db, 'repository_forks', {
    lines: [
      'repository_id bigint not null primary key',
      'parent_id bigint not null',
      'constraint repository_forks_repository foreign key (repository_id) references repositories (id) on delete cascade',
      // If the parent is deleted, this row is deleted with it, and the fork becomes an ordinary
      // repository.
      'constraint repository_forks_parent foreign key (parent_id) references repositories (id) on delete cascade',
    ],
    indexes: { repository_forks_by_parent: 'parent_id' },
  })
  await createTopics(db)
}

async function createTopics(db: Knex): Promise<void> {
  await createTable(db, 'topics', {
    lines: [
      ID,
      'name varchar(50) not null',
      'created_at bigint not null',
      'updated_at bigint not null',
      'constraint topics_name unique (name)',
    ],
  })
  await createTable(db, 'repository_topics', {
    lines: [
      'repository_id bigint not null',
      'topic_id bigint not null',
      'primary key (repository_id, topic_id)',
      'constraint repository_topics_repository foreign key (repository_id) references repositories (id) on delete cascade',
      'constraint repository_topics_topic foreign key (topic_id) references topics (id) on delete cascade',
    ],
    indexes: { repository_topics_by_topic: 'topic_id' },
  })
}

/** Drops the tables and the columns. */
export async function down(db: Knex): Promise<void> {
  const tables = [
    'repository_topics',
    'topics',
    'repository_forks',
    'user_settings',
    'public_members',
    'team_repositories',
  ]
  for (const table of tables) await db.schema.dropTableIfExists(table)
  for (const name of Object.keys(TEAM_COLUMNS)) {
    if (!(await db.schema.hasColumn('teams', name))) continue
    await db.raw(`alter table teams drop column ${name}`)
  }
}
