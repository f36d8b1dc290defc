/** Who wrote on another server what was taken over from it, and the files that are on their way. */

import type { Knex } from 'knex'
import { createTable } from '../database/dialect.js'

const TABLES = ['issues', 'comments'] as const

/** Columns that came later. */
const COLUMNS = {
  original_author: "varchar(255) not null default ''",
  original_author_id: 'bigint not null default 0',
} as const

/** Adds the columns, and creates the table. */
export async function up(db: Knex): Promise<void> {
  for (const table of TABLES) {
    for (const [name, type] of Object.entries(COLUMNS)) {
      if (await db.schema.hasColumn(table, name)) continue
      await db.raw(`alter table ${table} add column ${name} ${type}`)
    }
  }
  // While an import lasts, nobody takes the blobs that it has fetched for unused ones.
  await createTable(db, 'import_blobs', {
    lines: [
      'import_id bigint not null',
      'blob_id bigint not null',
      'primary key (import_id, blob_id)',
      'constraint import_blobs_import foreign key (import_id) references repository_imports (id) on delete cascade',
      'constraint import_blobs_blob foreign key (blob_id) references blobs (id)',
    ],
    indexes: { import_blobs_by_blob: 'blob_id' },
  })
}

/** Drops them. */
export async function down(db: Knex): Promise<void> {
  await db.schema.dropTableIfExists('import_blobs')
  for (const table of TABLES) {
    for (const name of Object.keys(COLUMNS)) {
      if (!(await db.schema.hasColumn(table, name))) continue
      await db.raw(`alter table ${table} drop column ${name}`)
    }
  }
}
