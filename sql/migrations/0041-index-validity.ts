/** Time for which the files of a package index are valid for clients. */

import type { Knex } from 'knex'

/** Adds the column, in milliseconds; null if the files do not expire. */
export async function up(db: Knex): Promise<void> {
  if (await db.schema.hasColumn('package_indexes', 'valid_ms')) return
  await db.raw('alter table package_indexes add column valid_ms bigint')
}

/** Drops the column. */
export async function down(db: Knex): Promise<void> {
  if (!(await db.schema.hasColumn('package_indexes', 'valid_ms'))) return
  await db.raw('alter table package_indexes drop column valid_ms')
}
