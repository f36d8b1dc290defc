/** Tables of the repositories that users star and watch. */

import type { Knex } from 'knex'
import { createTable } from '../database/dialect.js'

const TABLES = ['repository_stars', 'repository_watches'] as const

/** Creates the tables. Users watch the repositories that they own. */
export async function up(db: Knex): Promise<void> {
  for (const table of TABLES) {
    await createTable(db, table, {
      lines: [
        'repository_id bigint not null',
        'user_id bigint not null',
        'created_at bigint not null',
        'primary key (repository_id, user_id)',
        `constraint ${table}_repository foreign key (repository_id) references repositories (id) on delete cascade`,
        `constraint ${table}_user foreign key (user_id) references users (owner_id) on delete cascade`,
      ],
      indexes: { [`${table}_by_user`]: 'user_id' },
    })
  }
  await db.raw(
    `insert into repository_watches (repository_id, user_id, created_at)
      select r.id, u.owner_id, r.created_at from repositories r join users u on u.owner_id = r.owner_id
      where not exists (select 1 from repository_watches w
        where w.repository_id = r.id and w.user_id = u.owner_id)`,
  )
}

/** Drops the tables. */
export async function down(db: Knex): Promise<void> {
  for (const table of TABLES) await db.schema.dropTableIfExists(table)
}
