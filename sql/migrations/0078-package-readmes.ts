/** READMEs of package versions. */

import type { Knex } from 'knex'
import { createTable } from '../database/dialect.js'

const TABLE = 'package_readmes'

/** Creates the table. */
export async function up(db: Knex): Promise<void> {
  await createTable(db, TABLE, {
    lines: [
      'version_id bigint not null primary key',
      'readme mediumtext not null',
      'constraint package_readmes_version foreign key (version_id) references package_versions (id) on delete cascade',
    ],
  })
}

/** Drops the table. */
export async function down(db: Knex): Promise<void> {
  await db.schema.dropTableIfExists(TABLE)
}
