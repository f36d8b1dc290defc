/** Tables of users and organizations, which share one namespace. */

import type { Knex } from 'knex'
import { createTable, ID } from '../database/dialect.js'

/** Creates the tables. */
export async function up(db: Knex): Promise<void> {
  await createOwners(db)
  await createUsers(db)
  await createOrganizations(db)
  await createTable(db, 'tokens', {
    lines: [
      ID,
      'user_id bigint not null',
      'name varchar(255) not null',
      'hash char(64) not null',
      'last_eight char(8) not null',
      'scopes text not null',
      'created_at bigint not null',
      'last_used_at bigint',
      'constraint tokens_user_name unique (user_id, name)',
      'constraint tokens_hash unique (hash)',
      'constraint tokens_user foreign key (user_id) references users (owner_id) on delete cascade',
    ],
  })
}

async function createOwners(db: Knex): Promise<void> {
  await createTable(db, 'owners', {
    lines: [
      ID,
      "kind varchar(20) not null check (kind in ('user', 'organization'))",
      'name varchar(40) not null',
      'name_lower varchar(40) not null',
      'full_name varchar(255) not null',
      'description text not null',
      'website varchar(2048) not null',
      'location varchar(255) not null',
      "visibility varchar(20) not null check (visibility in ('public', 'limited', 'private'))",
      'created_at bigint not null',
      'updated_at bigint not null',
      'constraint owners_name unique (name_lower)',
    ],
    indexes: { owners_kind: 'kind' },
  })
}

async function createUsers(db: Knex): Promise<void> {
  await createTable(db, 'users', {
    lines: [
      'owner_id bigint not null primary key',
      'password_hash varchar(255)',
      'is_admin boolean not null',
      'is_active boolean not null',
      'is_login_prohibited boolean not null',
      'must_change_password boolean not null',
      'language varchar(20) not null',
      'last_login_at bigint',
      'constraint users_owner foreign key (owner_id) references owners (id) on delete cascade',
    ],
  })
  await createTable(db, 'emails', {
    lines: [
      ID,
      'user_id bigint not null',
      'address varchar(254) not null',
      'address_lower varchar(254) not null',
      'is_primary boolean not null',
      'is_verified boolean not null',
      'constraint emails_address unique (address_lower)',
      'constraint emails_user foreign key (user_id) references users (owner_id) on delete cascade',
    ],
    indexes: { emails_user_primary: 'user_id, is_primary' },
  })
}

async function createOrganizations(db: Knex): Promise<void> {
  await createTable(db, 'organizations', {
    lines: [
      'owner_id bigint not null primary key',
      'email varchar(254) not null',
      'repo_admin_change_team_access boolean not null',
      'constraint organizations_owner foreign key (owner_id) references owners (id) on delete cascade',
    ],
  })
  await createTable(db, 'teams', {
    lines: [
      ID,
      'organization_id bigint not null',
      'name varchar(255) not null',
      'name_lower varchar(255) not null',
      "permission varchar(20) not null check (permission in ('none', 'read', 'write', 'admin', 'owner'))",
      'includes_all_repositories boolean not null',
      'can_create_repositories boolean not null',
      'constraint teams_name unique (organization_id, name_lower)',
      'constraint teams_organization foreign key (organization_id) references organizations (owner_id) on delete cascade',
    ],
  })
  await createTable(db, 'team_members', {
    lines: [
      'team_id bigint not null',
      'user_id bigint not null',
      'primary key (team_id, user_id)',
      'constraint team_members_team foreign key (team_id) references teams (id) on delete cascade',
      'constraint team_members_user foreign key (user_id) references users (owner_id) on delete cascade',
    ],
    indexes: { team_members_by_user: 'user_id' },
  })
}

/** Drops the tables. */
export async function down(db: Knex): Promise<void> {
  const tables = ['tokens', 'team_members', 'teams', 'organizations', 'emails', 'users', 'owners']
  for (const table of tables) await db.schema.dropTableIfExists(table)
}
