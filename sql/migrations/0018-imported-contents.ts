/** Original authors of imported issues and comments, and blobs of running imports. */

import type { Knex } from 'knex'
import { createTable } from '../database/dialect.js'

const TABLES = ['issues', 'comments'] as const

/** Columns that this migration adds to both tables. */
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
  // Blobs of a running import: the removal of unused blobs skips them.
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

/** Drops the table and the columns. */
export async function down(db: Knex): Promise<void> {
  await db.schema.dropTableIfExists('import_blobs')
  for (const table of TABLES) {
    for (const name of Object.keys(COLUMNS)) {
      if (!(await db.schema.hasColumn(table, name))) continue
      await db.raw(`alter table ${table} drop column ${name}`)
    }
  }
}
