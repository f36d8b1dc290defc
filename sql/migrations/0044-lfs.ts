/** Tables of Git LFS: the objects that each repository has, and the locks of its files. */

import type { Knex } from 'knex'
import { createTable, ID } from '../database/dialect.js'

const REPOSITORY = 'foreign key (repository_id) references repositories (id) on delete cascade'

/** Creates the tables. */
export async function up(db: Knex): Promise<void> {
  await createTable(db, 'lfs_objects', {
    lines: [
      'repository_id bigint not null',
      // SHA-256 of the bytes, in hexadecimal digits.
      'oid char(64) not null',
      'blob_id bigint not null',
      'bytes bigint not null',
      'created_at bigint not null',
      'primary key (repository_id, oid)',
      `constraint lfs_objects_repository ${REPOSITORY}`,
      'constraint lfs_objects_blob foreign key (blob_id) references blobs (id)',
    ],
    indexes: { lfs_objects_by_blob: 'blob_id' },
  })
  await createTable(db, 'lfs_locks', {
    lines: [
      ID,
      'repository_id bigint not null',
      // The longest path that a unique index of MySQL can have.
      'path varchar(700) not null',
      'user_id bigint not null',
      'created_at bigint not null',
      'constraint lfs_locks_path unique (repository_id, path)',
      `constraint lfs_locks_repository ${REPOSITORY}`,
      'constraint lfs_locks_user foreign key (user_id) references users (owner_id) on delete cascade',
    ],
    indexes: { lfs_locks_by_user: 'user_id' },
  })
}

/** Drops the tables. */
export async function down(db: Knex): Promise<void> {
  for (const table of ['lfs_locks', 'lfs_objects']) await db.schema.dropTableIfExists(table)
}
