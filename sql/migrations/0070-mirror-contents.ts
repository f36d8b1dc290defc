/** Contents that the updates of a mirror fetch besides the refs of its source. */

import type { Knex } from 'knex'

const COLUMNS = {
  has_wiki: 'boolean not null default 0',
  // Null for a mirror without the objects of Git LFS.
  lfs_url: 'varchar(2048)',
  lfs_credentials_sealed: 'text',
} as const

/** Adds the columns. */
export async function up(db: Knex): Promise<void> {
  for (const [name, type] of Object.entries(COLUMNS)) {
    if (await db.schema.hasColumn('repository_sources', name)) continue
    await db.raw(`alter table repository_sources add column ${name} ${type}`)
  }
}

/** Drops the columns. */
export async function down(db: Knex): Promise<void> {
  for (const name of Object.keys(COLUMNS)) {
    if (!(await db.schema.hasColumn('repository_sources', name))) continue
    await db.raw(`alter table repository_sources drop column ${name}`)
  }
}
