/** Tables of package indexes: their entries, the files of each generation, and signing keys. */

import type { Knex } from 'knex'
import { createTable, ID } from '../database/dialect.js'

/** Creates the tables. */
export async function up(db: Knex): Promise<void> {
  await createTable(db, 'package_indexes', {
    lines: [
      ID,
      'owner_id bigint not null',
      'format varchar(20) not null',
      'subject varchar(255) not null',
      // `wanted` grows with each change of the entries; `built` is the generation of the files.
      'wanted bigint not null',
      'built bigint not null',
      'changed_at bigint not null',
      'modified_at bigint not null',
      'lease char(32)',
      'leased_until bigint',
      'unique (owner_id, format, subject)',
      'constraint package_indexes_owner foreign key (owner_id) references owners (id) on delete cascade',
    ],
  })
  await createTable(db, 'package_index_entries', {
    lines: [
      ID,
      'index_id bigint not null',
      'file_id bigint not null',
      'part varchar(255) not null',
      'metadata mediumtext not null',
      'unique (file_id, index_id, part)',
      'constraint package_index_entries_index foreign key (index_id) references package_indexes (id) on delete cascade',
      'constraint package_index_entries_file foreign key (file_id) references package_files (id) on delete cascade',
    ],
    indexes: { package_index_entries_by_index: 'index_id, id' },
  })
  await createTable(db, 'package_index_files', {
    lines: [
      ID,
      'index_id bigint not null',
      'generation bigint not null',
      'path varchar(500) not null',
      'blob_id bigint not null',
      'created_at bigint not null',
      'unique (index_id, generation, path)',
      'constraint package_index_files_index foreign key (index_id) references package_indexes (id) on delete cascade',
      'constraint package_index_files_blob foreign key (blob_id) references blobs (id)',
    ],
    indexes: { package_index_files_by_blob: 'blob_id' },
  })
  await createTable(db, 'signing_keys', {
    lines: [
      ID,
      'owner_id bigint not null',
      'format varchar(20) not null',
      'private_sealed mediumtext not null',
      'public_text mediumtext not null',
      'created_at bigint not null',
      'unique (owner_id, format)',
      'constraint signing_keys_owner foreign key (owner_id) references owners (id) on delete cascade',
    ],
  })
}

/** Drops the tables. */
export async function down(db: Knex): Promise<void> {
  for (const name of TABLES) await db.schema.dropTableIfExists(name)
}

const TABLES = [
  'signing_keys',
  'package_index_files',
  'package_index_entries',
  'package_indexes',
] as const
