/** Limits of access tokens: expiry, client addresses, repositories and packages. */

import type { Knex } from 'knex'
import { createTable, ID } from '../database/dialect.js'

/** Columns that this migration adds to `tokens`. */
const TOKEN_COLUMNS = {
  expires_at: 'bigint',
  addresses: "varchar(1000) not null default ''",
  // True if the token is limited to the rows of the two tables, even if all of those were deleted.
  is_bound: 'boolean not null default 0',
} as const

/** Adds the columns, and creates the tables. */
export async function up(db: Knex): Promise<void> {
  for (const [name, type] of Object.entries(TOKEN_COLUMNS)) {
    if (await db.schema.hasColumn('tokens', name)) continue
    await db.raw(`alter table tokens add column ${name} ${type}`)
  }
  await createTable(db, 'token_repositories', {
    lines: [
      'token_id bigint not null',
      'repository_id bigint not null',
      'primary key (token_id, repository_id)',
      'constraint token_repositories_token foreign key (token_id) references tokens (id) on delete cascade',
      'constraint token_repositories_repository foreign key (repository_id) references repositories (id) on delete cascade',
    ],
    indexes: { token_repositories_by_repository: 'repository_id' },
  })
  await createTable(db, 'token_packages', {
    lines: [
      ID,
      'token_id bigint not null',
      'owner_id bigint not null',
      // Both are set, or both are null for all packages of the owner.
      'format varchar(20)',
      'name_lower varchar(255)',
      'constraint token_packages_token foreign key (token_id) references tokens (id) on delete cascade',
      'constraint token_packages_owner foreign key (owner_id) references owners (id) on delete cascade',
    ],
    indexes: { token_packages_by_token: 'token_id', token_packages_by_owner: 'owner_id' },
  })
}

/** Drops the tables and the columns. */
export async function down(db: Knex): Promise<void> {
  for (const table of ['token_packages', 'token_repositories']) {
    await db.schema.dropTableIfExists(table)
  }
  for (const name of Object.keys(TOKEN_COLUMNS)) {
    if (!(await db.schema.hasColumn('tokens', name))) continue
    await db.raw(`alter table tokens drop column ${name}`)
  }
}
