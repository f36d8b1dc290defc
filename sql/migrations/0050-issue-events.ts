/** Table of events of issues and pull requests: changes of title, labels, state and so on. */

import type { Knex } from 'knex'
import { createTable, ID } from '../database/dialect.js'

/** Creates the table. */
export async function up(db: Knex): Promise<void> {
  await createTable(db, 'issue_events', {
    lines: [
      ID,
      'issue_id bigint not null',
      // Gitea's name of the kind of event.
      'kind varchar(40) not null',
      // Null if the account was deleted, or if no user caused the event.
      'actor_id bigint',
      // Issue that refers to this one, or that one of both depends on.
      'other_issue_id bigint',
      'review_id bigint',
      // JSON with the values that depend on the kind.
      'details mediumtext not null',
      'created_at bigint not null',
      'constraint issue_events_issue foreign key (issue_id) references issues (id) on delete cascade',
      'constraint issue_events_actor foreign key (actor_id) references users (owner_id) on delete set null',
      'constraint issue_events_other foreign key (other_issue_id) references issues (id) on delete cascade',
      'constraint issue_events_review foreign key (review_id) references reviews (id) on delete cascade',
    ],
    indexes: {
      issue_events_by_issue: 'issue_id, created_at',
      issue_events_by_actor: 'actor_id',
      issue_events_by_other: 'other_issue_id',
      issue_events_by_review: 'review_id',
    },
  })
}

/** Drops the table. */
export async function down(db: Knex): Promise<void> {
  await db.schema.dropTableIfExists('issue_events')
}
