/** Table of the activities of users in repositories, from which feeds and heatmaps are made. */

import type { Knex } from 'knex'
import { createTable, ID } from '../database/dialect.js'

/** Creates the table. */
export async function up(db: Knex): Promise<void> {
  await createTable(db, 'activities', {
    lines: [
      ID,
      'actor_id bigint not null',
      'repository_id bigint not null',
      'kind varchar(40) not null',
      // Unit of the repository that a viewer needs.
      'unit varchar(20) not null',
      'comment_id bigint',
      'ref_name varchar(1024) not null',
      'content text not null',
      'created_at bigint not null',
      // Digest that identifies an activity which may be recorded twice.
      'event_key char(64)',
      'constraint activities_key unique (event_key)',
      'constraint activities_actor foreign key (actor_id) references owners (id) on delete cascade',
      'constraint activities_repository foreign key (repository_id) references repositories (id) on delete cascade',
    ],
    indexes: {
      activities_by_actor: 'actor_id, created_at',
      activities_by_repository: 'repository_id, created_at',
      activities_by_time: 'created_at',
    },
  })
}

/** Drops the table. */
export async function down(db: Knex): Promise<void> {
  await db.schema.dropTableIfExists('activities')
}
