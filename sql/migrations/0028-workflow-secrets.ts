/** Tables of the secrets and variables of workflows. */

import type { Knex } from 'knex'
import { createTable, ID } from '../database/dialect.js'

const TABLES = ['workflow_secrets', 'workflow_variables']

/** Creates the tables. */
export async function up(db: Knex): Promise<void> {
  for (const table of TABLES) {
    await createTable(db, table, {
      lines: [
        ID,
        // Site, owner or repository as one text, because a unique constraint does not bind nulls.
        'scope varchar(40) not null',
        'owner_id bigint',
        'repository_id bigint',
        // In upper case.
        'name varchar(255) not null',
        // Sealed with the instance's secret, in the table of secrets.
        'value mediumtext not null',
        // Size of the plain value in UTF-8.
        'bytes integer not null',
        'description text not null',
        'created_at bigint not null',
        `constraint ${table}_name unique (scope, name)`,
        `constraint ${table}_owner foreign key (owner_id) references owners (id) on delete cascade`,
        `constraint ${table}_repository foreign key (repository_id) references repositories (id) on delete cascade`,
      ],
      indexes: { [`${table}_by_owner`]: 'owner_id', [`${table}_by_repository`]: 'repository_id' },
    })
  }
}

/** Drops the tables. */
export async function down(db: Knex): Promise<void> {
  for (const table of TABLES) await db.schema.dropTableIfExists(table)
}
