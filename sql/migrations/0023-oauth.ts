/** Tables of OAuth2 applications, grants, tokens and the ID token signing key. */

import type { Knex } from 'knex'
import { createTable, ID } from '../database/dialect.js'

/** Gitea's built-in public clients, by the client ids that these programs contain. */
const BUILT_IN = {
  'a4792ccc-144e-407e-86c9-5e7d8d9c3269': 'git-credential-oauth',
  'e90ee53c-94e2-48ac-9358-a874fb9e0662': 'Git Credential Manager',
  'd57cb8c4-630c-4168-8324-ec79935e18d4': 'tea',
} as const

/** Creates the tables, and inserts the built-in applications. */
export async function up(db: Knex): Promise<void> {
  await createTable(db, 'oauth_applications', {
    lines: [
      ID,
      // Null for a built-in application, which cannot be changed.
      'owner_id bigint',
      'client_id varchar(36) not null',
      // SHA-256 in hexadecimal; null for a public client, which has no secret.
      'secret_hash char(64)',
      'name varchar(255) not null',
      // One URI per line.
      'redirect_uris text not null',
      'is_confidential boolean not null',
      'skips_second_consent boolean not null',
      'created_at bigint not null',
      'constraint oauth_applications_client unique (client_id)',
      'constraint oauth_applications_owner foreign key (owner_id) references owners (id) on delete cascade',
    ],
    indexes: { oauth_applications_by_owner: 'owner_id' },
  })
  await createTable(db, 'oauth_grants', {
    lines: [
      ID,
      'user_id bigint not null',
      'application_id bigint not null',
      'scopes varchar(1000) not null',
      'openid_scopes varchar(255) not null',
      'nonce varchar(255) not null',
      // SHA-256 in hexadecimal; kept after the code was used, so that a second use is detected.
      'code_hash char(64) not null',
      'code_expires_at bigint not null',
      'is_code_used boolean not null',
      // Empty if the request had none.
      'redirect_uri text not null',
      'code_challenge varchar(43) not null',
      'created_at bigint not null',
      'last_used_at bigint not null',
      'constraint oauth_grants_code unique (code_hash)',
      'constraint oauth_grants_user foreign key (user_id) references users (owner_id) on delete cascade',
      'constraint oauth_grants_application foreign key (application_id) references oauth_applications (id) on delete cascade',
    ],
    indexes: {
      oauth_grants_by_user: 'user_id, application_id',
      oauth_grants_by_application: 'application_id',
    },
  })
  await createTable(db, 'oauth_tokens', {
    lines: [
      ID,
      'grant_id bigint not null',
      'access_hash char(64) not null',
      'access_expires_at bigint not null',
      'refresh_hash char(64) not null',
      'refresh_expires_at bigint not null',
      // True after a refresh; a second use then indicates a stolen token.
      'is_spent boolean not null',
      'created_at bigint not null',
      'constraint oauth_tokens_access unique (access_hash)',
      'constraint oauth_tokens_refresh unique (refresh_hash)',
      'constraint oauth_tokens_grant foreign key (grant_id) references oauth_grants (id) on delete cascade',
    ],
    indexes: { oauth_tokens_by_grant: 'grant_id', oauth_tokens_by_end: 'refresh_expires_at' },
  })
  await createTable(db, 'oauth_keys', {
    lines: [
      // Always 1: of two concurrent inserts, the second fails and its process uses the first key.
      'id integer primary key',
      'private_sealed text not null',
      'public_text text not null',
      'created_at bigint not null',
    ],
  })
  await addBuiltIn(db)
}

async function addBuiltIn(db: Knex): Promise<void> {
  for (const [clientId, name] of Object.entries(BUILT_IN)) {
    if ((await db('oauth_applications').where({ client_id: clientId }).first('id')) !== undefined) {
      continue
    }
    await db('oauth_applications').insert({
      owner_id: null,
      client_id: clientId,
      secret_hash: null,
      name,
      redirect_uris: 'http://127.0.0.1\nhttps://127.0.0.1',
      is_confidential: false,
      skips_second_consent: false,
      created_at: Date.now(),
    })
  }
}

/** Drops the tables. */
export async function down(db: Knex): Promise<void> {
  for (const table of ['oauth_keys', 'oauth_tokens', 'oauth_grants', 'oauth_applications']) {
    await db.schema.dropTableIfExists(table)
  }
}
