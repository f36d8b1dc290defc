/** Fingerprint of the secret key with which the values of the site are sealed. */

import type { Knex } from 'knex'

/** Adds the column. */
export async function up(db: Knex): Promise<void> {
  if (await db.schema.hasColumn('site', 'secret_fingerprint')) return
  await db.raw('alter table site add column secret_fingerprint varchar(64)')
}

/** Drops the column. */
export async function down(db: Knex): Promise<void> {
  if (!(await db.schema.hasColumn('site', 'secret_fingerprint'))) return
  await db.raw('alter table site drop column secret_fingerprint')
}
