/** Owner and format of package versions, by which the lists of an owner are read. */

import type { Knex } from 'knex'
import { isMysql, selectRows } from '../database/dialect.js'

const VERSIONS = 'package_versions'
const BY_OWNER = 'package_versions_by_owner'
/** Format last, so that a list of all formats is ordered by id. */
const BY_OWNER_COLUMNS = '(owner_id, id, format)'
const LINKED = 'packages_linked'
const LINKED_COLUMNS = '(owner_id, repository_id)'

/** Adds the columns with their values, and the indexes. */
export async function up(db: Knex): Promise<void> {
  const isAdded = await db.schema.hasColumn(VERSIONS, 'owner_id')
  if (isMysql(db)) {
    // Single statements, of which a killed process leaves no part.
    if (!isAdded) {
      await db.raw(`alter table ${VERSIONS} add column owner_id bigint,
        add column format varchar(20), add index ${BY_OWNER} ${BY_OWNER_COLUMNS}`)
    }
    if (!(await hasMysqlIndex(db))) {
      await db.raw(`alter table packages add index ${LINKED} ${LINKED_COLUMNS}`)
    }
  } else {
    if (!isAdded) {
      await db.raw(`alter table ${VERSIONS} add column owner_id bigint`)
      await db.raw(`alter table ${VERSIONS} add column format varchar(20)`)
    }
    await db.raw(`create index if not exists ${BY_OWNER} on ${VERSIONS} ${BY_OWNER_COLUMNS}`)
    await db.raw(`create index if not exists ${LINKED} on packages ${LINKED_COLUMNS}`)
  }
  await fillOwners(db)
}

async function hasMysqlIndex(db: Knex): Promise<boolean> {
  const rows = await selectRows(db, `show index from packages where key_name = '${LINKED}'`)
  return rows.length > 0
}

const ROWS_AT_ONCE = 10_000

async function fillOwners(db: Knex): Promise<void> {
  for (;;) {
    const [last] = await selectRows<{ id: number }>(
      db,
      `select id from ${VERSIONS} where owner_id is null order by id limit 1 offset ?`,
      [ROWS_AT_ONCE],
    )
    await db.raw(
      `update ${VERSIONS} set
        owner_id = (select p.owner_id from packages p where p.id = package_id),
        format = (select p.format from packages p where p.id = package_id)
        where owner_id is null ${last === undefined ? '' : `and id < ${last.id}`}`,
    )
    if (last === undefined) return
  }
}

/** Drops the indexes and the columns. */
export async function down(db: Knex): Promise<void> {
  const hasColumns = await db.schema.hasColumn(VERSIONS, 'owner_id')
  if (isMysql(db)) {
    if (await hasMysqlIndex(db)) await db.raw(`alter table packages drop index ${LINKED}`)
    if (!hasColumns) return
    await db.raw(`alter table ${VERSIONS} drop index ${BY_OWNER},
      drop column owner_id, drop column format`)
    return
  }
  await db.raw(`drop index if exists ${LINKED}`)
  await db.raw(`drop index if exists ${BY_OWNER}`)
  if (!hasColumns) return
  await db.raw(`alter table ${VERSIONS} drop column owner_id`)
  await db.raw(`alter table ${VERSIONS} drop column format`)
}
