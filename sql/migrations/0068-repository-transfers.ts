/** Table of the transfers of repositories that wait for an answer of the new owner. */

import type { Knex } from 'knex'
import { createTable } from '../database/dialect.js'

/** Creates the table. */
export async function up(db: Knex): Promise<void> {
  await createTable(db, 'repository_transfers', {
    lines: [
      // A repository has at most one.
      'repository_id bigint not null primary key',
      'actor_id bigint not null',
      'recipient_id bigint not null',
      // Ids of the recipient's teams that get access, as a JSON array.
      'team_ids text not null',
      'created_at bigint not null',
      'constraint repository_transfers_repository foreign key (repository_id) references repositories (id) on delete cascade',
      'constraint repository_transfers_actor foreign key (actor_id) references users (owner_id) on delete cascade',
      'constraint repository_transfers_recipient foreign key (recipient_id) references owners (id) on delete cascade',
    ],
    indexes: {
      repository_transfers_by_actor: 'actor_id',
      repository_transfers_by_recipient: 'recipient_id',
    },
  })
}

/** Drops the table. */
export async function down(db: Knex): Promise<void> {
  await db.schema.dropTableIfExists('repository_transfers')
}
