/** Tables of cleanup rules, protected versions, deleted files and quotas of packages. */

import type { Knex } from 'knex'
import { createTable, ID } from '../database/dialect.js'

const OWNER = 'foreign key (owner_id) references owners (id) on delete cascade'
const PACKAGE = 'foreign key (package_id) references packages (id) on delete cascade'

/** Creates the tables. */
export async function up(db: Knex): Promise<void> {
  await createTable(db, 'package_owner_settings', {
    lines: [
      'owner_id bigint not null primary key',
      // True if deleted files cannot be published again with other bytes.
      'is_immutable boolean not null',
      // Quotas; null for those of the configuration, -1 for no limit.
      'versions_max bigint',
      'bytes_max bigint',
      `constraint package_owner_settings_owner ${OWNER}`,
    ],
  })
  await createTable(db, 'package_cleanup_rules', {
    lines: [
      ID,
      'owner_id bigint not null',
      'format varchar(20) not null',
      'is_enabled boolean not null',
      'keep_count integer not null',
      'keep_pattern varchar(255) not null',
      'remove_days integer not null',
      'remove_pattern varchar(255) not null',
      'matches_full_name boolean not null',
      // Incremented by each change, so that a running job notices it.
      'revision bigint not null',
      // The last run: its end, the removed versions and their bytes, and the reason for a stop.
      'ran_at bigint',
      'removed_count bigint not null',
      'removed_bytes bigint not null',
      'run_error varchar(255) not null',
      'unique (owner_id, format)',
      `constraint package_cleanup_rules_owner ${OWNER}`,
    ],
  })
  await createTable(db, 'package_protections', {
    lines: [
      ID,
      'owner_id bigint not null',
      'format varchar(20) not null',
      'pattern varchar(255) not null',
      'created_at bigint not null',
      'unique (owner_id, format, pattern)',
      `constraint package_protections_owner ${OWNER}`,
    ],
  })
  await createRemovals(db)
}

async function createRemovals(db: Knex): Promise<void> {
  await createTable(db, 'package_tombstones', {
    lines: [
      ID,
      'package_id bigint not null',
      'version_lower varchar(255) not null',
      'name_lower varchar(255) not null',
      'composite_key varchar(255) not null',
      'sha256 char(64) not null',
      'removed_at bigint not null',
      `constraint package_tombstones_package ${PACKAGE}`,
    ],
    indexes: { package_tombstones_by_version: 'package_id, version_lower' },
  })
  await createTable(db, 'package_retired_versions', {
    lines: [
      // Id that the version had.
      'id bigint not null primary key',
      'package_id bigint not null',
      'version varchar(255) not null',
      'version_lower varchar(255) not null',
      'metadata mediumtext not null',
      'created_at bigint not null',
      'retired_at bigint not null',
      `constraint package_retired_versions_package ${PACKAGE}`,
    ],
    indexes: {
      package_retired_versions_by_version: 'package_id, version_lower',
      package_retired_versions_by_time: 'retired_at',
    },
  })
  await createTable(db, 'package_retired_files', {
    lines: [
      // Id that the file had.
      'id bigint not null primary key',
      'version_id bigint not null',
      'name varchar(255) not null',
      'name_lower varchar(255) not null',
      'composite_key varchar(255) not null',
      'blob_id bigint not null',
      'created_at bigint not null',
      'constraint package_retired_files_version foreign key (version_id) references package_retired_versions (id) on delete cascade',
      'constraint package_retired_files_blob foreign key (blob_id) references blobs (id)',
    ],
    indexes: {
      package_retired_files_by_version: 'version_id',
      package_retired_files_by_blob: 'blob_id',
    },
  })
}

/** Drops the tables. */
export async function down(db: Knex): Promise<void> {
  for (const name of TABLES) await db.schema.dropTableIfExists(name)
}

const TABLES = [
  'package_retired_files',
  'package_retired_versions',
  'package_tombstones',
  'package_protections',
  'package_cleanup_rules',
  'package_owner_settings',
]
