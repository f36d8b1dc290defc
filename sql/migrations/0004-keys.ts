/** Tables of SSH keys and deploy keys; a key is either one user's or a deploy key. */

import type { Knex } from 'knex'
import { createTable, ID } from '../database/dialect.js'

/** Creates the tables. */
export async function up(db: Knex): Promise<void> {
  await createTable(db, 'ssh_keys', {
    lines: [
      ID,
      'fingerprint varchar(50) not null',
      'algorithm varchar(50) not null',
      'base64 text not null',
      // Set for a user's key; these three columns are null for a deploy key.
      'user_id bigint',
      'title varchar(255)',
      'comment text',
      'created_at bigint not null',
      'last_used_at bigint',
      'constraint ssh_keys_fingerprint unique (fingerprint)',
      'constraint ssh_keys_title unique (user_id, title)',
      'constraint ssh_keys_user foreign key (user_id) references users (owner_id) on delete cascade',
    ],
  })
  await createTable(db, 'deploy_keys', {
    lines: [
      ID,
      'repository_id bigint not null',
      'key_id bigint not null',
      'title varchar(255) not null',
      // Kept per repository, so that the comment is hidden from other repositories with this key.
      'comment text not null',
      "mode varchar(20) not null check (mode in ('read', 'write'))",
      'created_at bigint not null',
      'constraint deploy_keys_key unique (repository_id, key_id)',
      'constraint deploy_keys_title unique (repository_id, title)',
      'constraint deploy_keys_repository foreign key (repository_id) references repositories (id) on delete cascade',
      // No `on delete`: a key cannot be deleted while it is a deploy key of a repository.
      'constraint deploy_keys_ssh_key foreign key (key_id) references ssh_keys (id)',
    ],
    indexes: { deploy_keys_by_key: 'key_id' },
  })
}

/** Drops the tables. */
export async function down(db: Knex): Promise<void> {
  for (const table of ['deploy_keys', 'ssh_keys']) await db.schema.dropTableIfExists(table)
}
