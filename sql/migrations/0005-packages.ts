/** Tables of packages, their versions and files, and the blobs that store their bytes. */

import type { Knex } from 'knex'
import { createTable, ID } from '../database/dialect.js'

/** Creates the tables. */
export async function up(db: Knex): Promise<void> {
  await createTable(db, 'blobs', {
    lines: [
      ID,
      'sha256 char(64) not null unique',
      'md5 char(32) not null',
      'sha1 char(40) not null',
      'sha512 char(128) not null',
      'bytes bigint not null',
      'storage_key varchar(100) not null unique',
      'created_at bigint not null',
    ],
  })
  await createTable(db, 'packages', {
    lines: [
      ID,
      'owner_id bigint not null',
      'format varchar(20) not null',
      'name varchar(255) not null',
      'name_lower varchar(255) not null',
      'repository_id bigint',
      'generation bigint not null',
      'changed_at bigint not null',
      'created_at bigint not null',
      'unique (owner_id, format, name_lower)',
      'constraint packages_owner foreign key (owner_id) references owners (id)',
      'constraint packages_repository foreign key (repository_id) references repositories (id) on delete set null',
    ],
    indexes: { packages_by_repository: 'repository_id' },
  })
  await createVersions(db)
}

async function createVersions(db: Knex): Promise<void> {
  await createTable(db, 'package_versions', {
    lines: [
      ID,
      'package_id bigint not null',
      'version varchar(255) not null',
      'version_lower varchar(255) not null',
      'creator_id bigint',
      'metadata mediumtext not null',
      'created_at bigint not null',
      'unique (package_id, version_lower)',
      'constraint package_versions_package foreign key (package_id) references packages (id) on delete cascade',
      'constraint package_versions_creator foreign key (creator_id) references users (owner_id) on delete set null',
    ],
    indexes: { package_versions_by_creator: 'creator_id' },
  })
  await createTable(db, 'package_files', {
    lines: [
      ID,
      'version_id bigint not null',
      'name varchar(255) not null',
      'name_lower varchar(255) not null',
      'composite_key varchar(255) not null',
      'blob_id bigint not null',
      'downloads bigint not null',
      'created_at bigint not null',
      'unique (version_id, name_lower, composite_key)',
      'constraint package_files_version foreign key (version_id) references package_versions (id) on delete cascade',
      'constraint package_files_blob foreign key (blob_id) references blobs (id)',
    ],
    indexes: { package_files_by_blob: 'blob_id' },
  })
  await createTable(db, 'package_properties', {
    lines: [
      ID,
      'version_id bigint not null',
      'name varchar(50) not null',
      'value varchar(500) not null',
      'constraint package_properties_version foreign key (version_id) references package_versions (id) on delete cascade',
    ],
    indexes: {
      package_properties_by_version: 'version_id',
      package_properties_by_value: 'name, value',
    },
  })
}

/** Drops the tables. */
export async function down(db: Knex): Promise<void> {
  for (const name of TABLES) await db.schema.dropTableIfExists(name)
}

const TABLES = ['package_properties', 'package_files', 'package_versions', 'packages', 'blobs']
