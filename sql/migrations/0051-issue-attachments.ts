/** Table of the attachments of issues, pull requests and comments. */

import type { Knex } from 'knex'
import { createTable, ID } from '../database/dialect.js'

/** Creates the table. */
export async function up(db: Knex): Promise<void> {
  await createTable(db, 'issue_attachments', {
    lines: [
      ID,
      'uuid char(36) not null unique',
      'issue_id bigint not null',
      // Null for an attachment of the issue itself.
      'comment_id bigint',
      // Null if the account was deleted.
      'uploader_id bigint',
      'name varchar(255) not null',
      'blob_id bigint not null',
      'downloads bigint not null',
      'created_at bigint not null',
      'constraint issue_attachments_issue foreign key (issue_id) references issues (id) on delete cascade',
      'constraint issue_attachments_comment foreign key (comment_id) references comments (id) on delete cascade',
      'constraint issue_attachments_uploader foreign key (uploader_id) references users (owner_id) on delete set null',
      'constraint issue_attachments_blob foreign key (blob_id) references blobs (id)',
    ],
    indexes: {
      issue_attachments_by_issue: 'issue_id, comment_id',
      issue_attachments_by_comment: 'comment_id',
      issue_attachments_by_uploader: 'uploader_id',
      issue_attachments_by_blob: 'blob_id',
    },
  })
}

/** Drops the table. */
export async function down(db: Knex): Promise<void> {
  await db.schema.dropTableIfExists('issue_attachments')
}
