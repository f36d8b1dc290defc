/** Downloads of package versions by day, and an index for the page of an owner's packages. */

import type { Knex } from 'knex'
import { createTable, isMysql } from '../database/dialect.js'

const TABLE = 'package_downloads'
const INDEX = 'packages_by_change'

/** Creates the table and the index. */
export async function up(db: Knex): Promise<void> {
  // The index is created first, because the table shows whether this was done.
  if (!(await db.schema.hasTable(TABLE))) {
    await dropIndex(db)
    await db.raw(`create index ${INDEX} on packages (owner_id, changed_at)`)
  }
  await createTable(db, TABLE, {
    lines: [
      'version_id bigint not null',
      // Days since 1970-01-01, in UTC.
      'day integer not null',
      'downloads bigint not null',
      'primary key (version_id, day)',
      'constraint package_downloads_version foreign key (version_id) references package_versions (id) on delete cascade',
    ],
    indexes: { package_downloads_by_day: 'day' },
  })
}

/** Drops the table and the index. */
export async function down(db: Knex): Promise<void> {
  await dropIndex(db)
  await db.schema.dropTableIfExists(TABLE)
}

async function dropIndex(db: Knex): Promise<void> {
  if (!isMysql(db)) {
    await db.raw(`drop index if exists ${INDEX}`)
    return
  }
  const [found] = await db.raw(`show index from packages where key_name = '${INDEX}'`)
  if (found.length > 0) await db.raw(`alter table packages drop key ${INDEX}`)
}
