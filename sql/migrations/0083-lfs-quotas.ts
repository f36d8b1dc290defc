/** Quota of the LFS objects of an owner's repositories. */

import type { Knex } from 'knex'

/** Adds the column. Null for the quota of the configuration, -1 for no limit. */
export async function up(db: Knex): Promise<void> {
  if (await db.schema.hasColumn('package_owner_settings', 'lfs_bytes_max')) return
  await db.raw('alter table package_owner_settings add column lfs_bytes_max bigint')
}

/** Drops the column. */
export async function down(db: Knex): Promise<void> {
  if (!(await db.schema.hasColumn('package_owner_settings', 'lfs_bytes_max'))) return
  await db.raw('alter table package_owner_settings drop column lfs_bytes_max')
}
