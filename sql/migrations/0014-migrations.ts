/** Tables of the sources that repositories were imported from, and of running imports. */

import type { Knex } from 'knex'
import { createTable, ID } from '../database/dialect.js'

/** Creates the tables. */
export async function up(db: Knex): Promise<void> {
  await createTable(db, 'repository_sources', {
    lines: [
      'repository_id bigint not null primary key',
      'url varchar(2048) not null',
      'is_mirror boolean not null',
      'credentials_sealed text',
      // Interval of a mirror; 0 if the mirror is updated only on request.
      'interval_ms bigint not null',
      'synced_at bigint not null',
      'next_at bigint',
      'constraint repository_sources_repository foreign key (repository_id) references repositories (id) on delete cascade',
    ],
    indexes: { repository_sources_due: 'next_at' },
  })
  await createTable(db, 'repository_imports', {
    lines: [
      ID,
      'owner_id bigint not null',
      'name_lower varchar(100) not null',
      'storage char(32) not null',
      'machine varchar(255) not null',
      'process varchar(255) not null',
      // 0 once a process has begun to remove the stale files of an interrupted import.
      'leased_until bigint not null',
      'created_at bigint not null',
      'constraint repository_imports_name unique (owner_id, name_lower)',
      'constraint repository_imports_owner foreign key (owner_id) references owners (id) on delete cascade',
    ],
  })
}

/** Drops the tables. */
export async function down(db: Knex): Promise<void> {
  for (const table of ['repository_imports', 'repository_sources']) {
    await db.schema.dropTableIfExists(table)
  }
}
