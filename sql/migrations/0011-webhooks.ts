/** Tables of webhooks of repositories, organizations and users, and of their deliveries. */

import type { Knex } from 'knex'
import { createTable, ID } from '../database/dialect.js'

/** Creates the tables. */
export async function up(db: Knex): Promise<void> {
  await createTable(db, 'webhooks', {
    lines: [
      ID,
      // Source of the events; exactly one of the two is set.
      'repository_id bigint',
      'owner_id bigint',
      "type varchar(20) not null check (type in ('gitea', 'gogs'))",
      'url text not null',
      "content_type varchar(10) not null check (content_type in ('json', 'form'))",
      // Sealed with the instance's secret.
      'secret_sealed text',
      'authorization_sealed text',
      'events text not null',
      'branch_filter varchar(255) not null',
      'is_active boolean not null',
      'created_at bigint not null',
      'updated_at bigint not null',
      'constraint webhooks_repository foreign key (repository_id) references repositories (id) on delete cascade',
      'constraint webhooks_owner foreign key (owner_id) references owners (id) on delete cascade',
    ],
    indexes: { webhooks_by_repository: 'repository_id', webhooks_by_owner: 'owner_id' },
  })
  await createTable(db, 'webhook_deliveries', {
    lines: [
      ID,
      'webhook_id bigint not null',
      'uuid char(36) not null',
      'event varchar(40) not null',
      'payload mediumtext not null',
      'attempts integer not null',
      // Null if the delivery has succeeded or was given up.
      'next_at bigint',
      'is_delivered boolean not null',
      'attempted_at bigint',
      'request_headers text not null',
      // Response to the last attempt; the status is null if there was none.
      'response_status integer',
      'response_headers text not null',
      'response_body mediumtext not null',
      'error text not null',
      'created_at bigint not null',
      'constraint webhook_deliveries_uuid unique (uuid)',
      'constraint webhook_deliveries_webhook foreign key (webhook_id) references webhooks (id) on delete cascade',
    ],
    indexes: {
      webhook_deliveries_due: 'webhook_id, next_at',
      webhook_deliveries_by_age: 'created_at',
    },
  })
}

/** Drops the tables. */
export async function down(db: Knex): Promise<void> {
  for (const table of ['webhook_deliveries', 'webhooks']) await db.schema.dropTableIfExists(table)
}
