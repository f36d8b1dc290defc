/** Tables of notifications and issue subscriptions. */

import type { Knex } from 'knex'
import { createTable, ID } from '../database/dialect.js'

/** Creates the tables. */
export async function up(db: Knex): Promise<void> {
  await createTable(db, 'notifications', {
    lines: [
      ID,
      'user_id bigint not null',
      'repository_id bigint not null',
      // Issue or pull request, or release; exactly one of the two is set.
      'issue_id bigint',
      'release_id bigint',
      "status varchar(10) not null check (status in ('unread', 'read', 'pinned'))",
      'created_at bigint not null',
      'updated_at bigint not null',
      'constraint notifications_issue unique (user_id, issue_id)',
      'constraint notifications_release unique (user_id, release_id)',
      'constraint notifications_of_user foreign key (user_id) references users (owner_id) on delete cascade',
      'constraint notifications_of_repository foreign key (repository_id) references repositories (id) on delete cascade',
      'constraint notifications_of_issue foreign key (issue_id) references issues (id) on delete cascade',
      'constraint notifications_of_release foreign key (release_id) references releases (id) on delete cascade',
    ],
    indexes: {
      notifications_by_time: 'user_id, status, updated_at',
      notifications_by_repository: 'repository_id',
      notifications_by_issue: 'issue_id',
      notifications_by_release: 'release_id',
    },
  })
  await createTable(db, 'issue_subscriptions', {
    lines: [
      'issue_id bigint not null',
      'user_id bigint not null',
      // False if the user has unsubscribed.
      'is_subscribed boolean not null',
      'created_at bigint not null',
      'primary key (issue_id, user_id)',
      'constraint issue_subscriptions_issue foreign key (issue_id) references issues (id) on delete cascade',
      'constraint issue_subscriptions_user foreign key (user_id) references users (owner_id) on delete cascade',
    ],
    indexes: { issue_subscriptions_by_user: 'user_id' },
  })
}

/** Drops the tables. */
export async function down(db: Knex): Promise<void> {
  for (const table of ['issue_subscriptions', 'notifications']) {
    await db.schema.dropTableIfExists(table)
  }
}
