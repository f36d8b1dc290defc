/** Webhooks of the whole site. */

import type { Knex } from 'knex'
import { isMysql } from '../database/dialect.js'

const INDEX = 'webhooks_by_site'

// `system` for all repositories, `default` to be copied into new ones; null for other webhooks.
const COLUMN = 'site varchar(10)'

/** Adds the column: a webhook has exactly one of repository, owner and site. */
export async function up(db: Knex): Promise<void> {
  const isAdded = await db.schema.hasColumn('webhooks', 'site')
  if (isMysql(db)) {
    if (isAdded) return
    // A single statement, of which a killed process leaves no part.
    await db.raw(`alter table webhooks add column ${COLUMN}, add index ${INDEX} (site)`)
    return
  }
  if (!isAdded) await db.raw(`alter table webhooks add column ${COLUMN}`)
  await db.raw(`create index if not exists ${INDEX} on webhooks (site)`)
}

/** Drops the column, with the webhooks of the site. */
export async function down(db: Knex): Promise<void> {
  if (!(await db.schema.hasColumn('webhooks', 'site'))) return
  await db('webhooks').whereNotNull('site').delete()
  if (isMysql(db)) {
    await db.raw(`alter table webhooks drop key ${INDEX}, drop column site`)
    return
  }
  await db.raw(`drop index if exists ${INDEX}`)
  await db.raw('alter table webhooks drop column site')
}
