/** Tables of releases, their attachments, and commit statuses. */

import type { Knex } from 'knex'
import { createTable, ID } from '../database/dialect.js'

/** Creates the tables. */
export async function up(db: Knex): Promise<void> {
  await createTable(db, 'releases', {
    lines: [
      ID,
      'repository_id bigint not null',
      'tag_name varchar(255) not null',
      'target varchar(255) not null',
      'title varchar(255) not null',
      'body mediumtext not null',
      'tag_message mediumtext not null',
      'is_draft boolean not null',
      'is_prerelease boolean not null',
      'author_id bigint',
      'created_at bigint not null',
      'published_at bigint not null',
      'constraint releases_tag unique (repository_id, tag_name)',
      'constraint releases_repository foreign key (repository_id) references repositories (id) on delete cascade',
      'constraint releases_author foreign key (author_id) references users (owner_id) on delete set null',
    ],
    indexes: {
      releases_by_time: 'repository_id, published_at, id',
      releases_by_author: 'author_id',
    },
  })
  await createTable(db, 'attachments', {
    lines: [
      ID,
      'uuid char(36) not null unique',
      'release_id bigint not null',
      'name varchar(255) not null',
      'blob_id bigint not null',
      'downloads bigint not null',
      'created_at bigint not null',
      'constraint attachments_release foreign key (release_id) references releases (id) on delete cascade',
      'constraint attachments_blob foreign key (blob_id) references blobs (id)',
    ],
    indexes: {
      attachments_by_name: 'release_id, name, id',
      attachments_by_blob: 'blob_id',
    },
  })
  await createStatuses(db)
}

async function createStatuses(db: Knex): Promise<void> {
  await createTable(db, 'commit_statuses', {
    lines: [
      ID,
      'repository_id bigint not null',
      'commit_id varchar(64) not null',
      'state varchar(20) not null',
      'context varchar(255) not null',
      'description text not null',
      'target_url text not null',
      'creator_id bigint',
      'created_at bigint not null',
      'constraint commit_statuses_repository foreign key (repository_id) references repositories (id) on delete cascade',
      'constraint commit_statuses_creator foreign key (creator_id) references users (owner_id) on delete set null',
    ],
    indexes: {
      commit_statuses_by_commit: 'repository_id, commit_id, context, id',
      commit_statuses_by_creator: 'creator_id',
    },
  })
}

/** Drops the tables. */
export async function down(db: Knex): Promise<void> {
  const tables = ['commit_statuses', 'attachments', 'releases']
  for (const table of tables) await db.schema.dropTableIfExists(table)
}
