/** Tables of the time that users have spent on issues, and of running stopwatches. */

import type { Knex } from 'knex'
import { createTable, ID } from '../database/dialect.js'

/** Creates the tables. */
export async function up(db: Knex): Promise<void> {
  await createTable(db, 'tracked_times', {
    lines: [
      ID,
      'issue_id bigint not null',
      'user_id bigint not null',
      'seconds bigint not null',
      'created_at bigint not null',
      'constraint tracked_times_issue foreign key (issue_id) references issues (id) on delete cascade',
      'constraint tracked_times_user foreign key (user_id) references users (owner_id) on delete cascade',
    ],
    indexes: {
      tracked_times_by_issue: 'issue_id, created_at',
      tracked_times_by_user: 'user_id, created_at',
    },
  })
  await createTable(db, 'stopwatches', {
    lines: [
      // A user has at most one.
      'user_id bigint not null primary key',
      'issue_id bigint not null',
      'created_at bigint not null',
      'constraint stopwatches_issue foreign key (issue_id) references issues (id) on delete cascade',
      'constraint stopwatches_user foreign key (user_id) references users (owner_id) on delete cascade',
    ],
    indexes: { stopwatches_by_issue: 'issue_id' },
  })
}

/** Drops the tables. */
export async function down(db: Knex): Promise<void> {
  for (const table of ['stopwatches', 'tracked_times']) await db.schema.dropTableIfExists(table)
}
