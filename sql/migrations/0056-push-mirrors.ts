/** Table of push mirrors: repositories on other servers that get copies of refs by pushes. */

import type { Knex } from 'knex'
import { createTable, ID } from '../database/dialect.js'

/** Creates the table. */
export async function up(db: Knex): Promise<void> {
  await createTable(db, 'push_mirrors', {
    lines: [
      ID,
      'repository_id bigint not null',
      'remote_name varchar(40) not null',
      'url varchar(2048) not null',
      'credentials_sealed text',
      // Interval of pushes; 0 if the mirror is updated only on request or after a push.
      'interval_ms bigint not null',
      'syncs_on_push boolean not null',
      'created_at bigint not null',
      'tried_at bigint',
      // Empty if the last push succeeded.
      'last_error varchar(1000) not null',
      'next_at bigint',
      'constraint push_mirrors_name unique (repository_id, remote_name)',
      'constraint push_mirrors_repository foreign key (repository_id) references repositories (id) on delete cascade',
    ],
    indexes: { push_mirrors_due: 'next_at' },
  })
}

/** Drops the table. */
export async function down(db: Knex): Promise<void> {
  await db.schema.dropTableIfExists('push_mirrors')
}
