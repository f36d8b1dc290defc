/** All sealed values and password hashes of a site: for the consistency checks. */

import { SEAL_CONTEXTS } from '../../conf/seal-contexts.js'
import type { Database } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import type { RowPage } from '../database/page.js'

export interface SealedValue {
  readonly id: number
  /** Name of the thing for people, such as `second factor of ada`. */
  readonly subject: string
  readonly sealed: string
  /** Context with which the value was sealed. */
  readonly context: string
}

/** A table with sealed values. */
export interface SealedTable {
  readonly list: (db: Database, page: RowPage) => Promise<readonly SealedValue[]>
}

interface Row {
  readonly id: number
  readonly name: string
  /** Sealed value; null if the row has none. */
  readonly sealed: string | null
  /** Value that the context needs, besides the name. */
  readonly place: string | number
}

/** All tables with sealed values, one entry for each column. */
export const SEALED_TABLES: readonly SealedTable[] = [
  ...['signing_keys', 'former_signing_keys'].map((table) =>
    tableOf({
      sql: `select k.id as id, k.format as name, k.private_sealed as sealed, k.owner_id as place
        from ${table} k where k.id > ?`,
      subject: ({ name, place }) => `signing key of the owner ${place} for ${name}`,
      context: ({ name, place }) => SEAL_CONTEXTS.indexKey(Number(place), name),
    }),
  ),
  tableOf({
    sql: `select k.id as id, '' as name, k.private_sealed as sealed, '' as place
      from oauth_keys k where k.id > ?`,
    subject: () => 'signing key of OAuth',
    context: () => SEAL_CONTEXTS.idTokenKey(),
  }),
  tableOf({
    sql: `select f.user_id as id, o.name as name, f.secret_sealed as sealed, f.user_id as place
      from second_factors f join owners o on o.id = f.user_id where f.user_id > ?`,
    subject: ({ name }) => `second factor of ${name}`,
    context: ({ place }) => SEAL_CONTEXTS.secondFactor(Number(place)),
  }),
  ...(['secret', 'authorization'] as const).map((column) =>
    tableOf({
      sql: `select w.id as id, w.id as name, w.${column}_sealed as sealed, '' as place
        from webhooks w where w.id > ?`,
      subject: ({ name }) => `${column} of the webhook ${name}`,
      context: () =>
        column === 'secret' ? SEAL_CONTEXTS.webhookSecret() : SEAL_CONTEXTS.webhookAuthorization(),
    }),
  ),
  tableOf({
    sql: `select s.id as id, s.name as name, s.value as sealed, s.scope as place
      from workflow_secrets s where s.id > ?`,
    subject: ({ name, place }) => `workflow secret ${name} of ${place}`,
    context: ({ name, place }) => SEAL_CONTEXTS.workflowSecret(String(place), name),
  }),
  ...['s.credentials_sealed', 's.lfs_credentials_sealed'].map((column) =>
    mirrorTable(`select s.repository_id as id, r.name as name, ${column} as sealed,
      r.storage as place from repository_sources s join repositories r on r.id = s.repository_id
      where s.repository_id > ?`),
  ),
  mirrorTable(`select m.id as id, r.name as name, m.credentials_sealed as sealed,
    r.storage as place from push_mirrors m join repositories r on r.id = m.repository_id
    where m.id > ?`),
]

interface TableSource {
  /** Query of a `Row`, to which its order and limit are added. */
  readonly sql: string
  readonly subject: (row: Row) => string
  readonly context: (row: Row) => string
}

function mirrorTable(sql: string): SealedTable {
  return tableOf({
    sql,
    subject: ({ name }) => `credentials of a mirror of ${name}`,
    context: ({ place }) => SEAL_CONTEXTS.mirrorCredentials(String(place)),
  })
}

function tableOf({ sql, subject, context }: TableSource): SealedTable {
  return {
    async list(db, { afterId, limit }) {
      const rows = await selectRows<Row>(db, `${sql} order by id limit ?`, [afterId, limit])
      return rows.map((row) => ({
        id: row.id,
        subject: subject(row),
        // An absent value has no context that could fail.
        sealed: row.sealed ?? '',
        context: context(row),
      }))
    },
  }
}

export interface PasswordHash {
  readonly id: number
  readonly name: string
  /** Undefined for an account without a password. */
  readonly hash: string | undefined
}

/** Returns the password hashes of users with ids above `afterId`. */
export async function listPasswordHashes(
  db: Database,
  { afterId, limit }: RowPage,
): Promise<readonly PasswordHash[]> {
  const rows = await selectRows<{ id: number; name: string; hash: string | null }>(
    db,
    `select u.owner_id as id, o.name as name, u.password_hash as hash
      from users u join owners o on o.id = u.owner_id
      where u.owner_id > ? order by u.owner_id limit ?`,
    [afterId, limit],
  )
  return rows.map(({ id, name, hash }) => ({ id, name, hash: hash ?? undefined }))
}
