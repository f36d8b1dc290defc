/** Sort keys of package index entries, and the changes since the index files were built. */

import type { Knex } from 'knex'
import { createTable, ID, isMysql, selectRows } from '../database/dialect.js'

const ENTRIES = 'package_index_entries'
const BY_KEY = 'package_index_entries_by_key'
const BY_INDEX = 'package_index_entries_by_index'

/** Adds the column with its values, and creates the table. */
export async function up(db: Knex): Promise<void> {
  if (!(await db.schema.hasColumn(ENTRIES, 'sort_key'))) {
    await alterEntries(db, [
      "add column sort_key varchar(511) not null default ''",
      `add index ${BY_KEY} (index_id, sort_key, id)`,
      `drop index ${BY_INDEX}`,
    ])
  }
  await fillKeys(db)
  await createTable(db, 'package_index_changes', {
    lines: [
      ID,
      'index_id bigint not null',
      'generation bigint not null',
      'sort_key varchar(511) not null',
      'constraint package_index_changes_index foreign key (index_id) references package_indexes (id) on delete cascade',
    ],
    indexes: { package_index_changes_by_index: 'index_id, generation' },
  })
}

/**
 * Alters the table of entries. On MySQL this is one statement, so that a killed process leaves no
 * partial change.
 */
async function alterEntries(db: Knex, changes: readonly string[]): Promise<void> {
  if (isMysql(db)) {
    await db.raw(`alter table ${ENTRIES} ${changes.join(', ')}`)
    return
  }
  for (const change of changes) {
    const [, index, columns] = /^add index (\w+) (\(.*\))$/.exec(change) ?? []
    if (index !== undefined) await db.raw(`create index ${index} on ${ENTRIES} ${columns}`)
    else if (change.startsWith('drop index')) await db.raw(change)
    else await db.raw(`alter table ${ENTRIES} ${change}`)
  }
}

const ROWS_AT_ONCE = 1_000

/**
 * Sets the sort keys that the formats write from now on. Debian's keys order existing entries
 * before all later ones. CRAN indexes have no parts any more.
 */
async function fillKeys(db: Knex): Promise<void> {
  for (;;) {
    const rows = await selectRows<Entry>(
      db,
      `select e.id as id, i.format as format, p.name as name, v.version as version
        from ${ENTRIES} e join package_indexes i on i.id = e.index_id
        join package_files f on f.id = e.file_id
        join package_versions v on v.id = f.version_id join packages p on p.id = v.package_id
        where e.sort_key = '' order by e.id limit ${ROWS_AT_ONCE}`,
    )
    for (const row of rows) await db(ENTRIES).where({ id: row.id }).update(changesOf(row))
    if (rows.length < ROWS_AT_ONCE) return
  }
}

function changesOf({ id, format, name, version }: Entry): object {
  if (format === 'cran') return { sort_key: name, part: '' }
  if (format === 'alpine') return { sort_key: `${name} ${version}` }
  return { sort_key: `-${String(id).padStart(16, '0')}` }
}

interface Entry {
  readonly id: number
  readonly format: string
  readonly name: string
  readonly version: string
}

/** Drops the table and the column. */
export async function down(db: Knex): Promise<void> {
  await db.schema.dropTableIfExists('package_index_changes')
  if (!(await db.schema.hasColumn(ENTRIES, 'sort_key'))) return
  await alterEntries(db, [
    `add index ${BY_INDEX} (index_id, id)`,
    `drop index ${BY_KEY}`,
    'drop column sort_key',
  ])
}
