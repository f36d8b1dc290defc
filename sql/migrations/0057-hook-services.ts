/** Services whose format webhooks have, with their settings. */

import type { Knex } from 'knex'

const COLUMNS = {
  // Null for webhooks of the types `gitea` and `gogs`; the others have the type `gitea`, too.
  service: 'varchar(20)',
  // Settings of the service as JSON, such as the channel.
  service_settings: 'text',
} as const

/** Adds the columns. */
export async function up(db: Knex): Promise<void> {
  for (const [name, type] of Object.entries(COLUMNS)) {
    if (await db.schema.hasColumn('webhooks', name)) continue
    await db.raw(`alter table webhooks add column ${name} ${type}`)
  }
}

/** Drops the columns. */
export async function down(db: Knex): Promise<void> {
  for (const name of Object.keys(COLUMNS)) {
    if (!(await db.schema.hasColumn('webhooks', name))) continue
    await db.raw(`alter table webhooks drop column ${name}`)
  }
}
