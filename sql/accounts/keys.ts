/** SSH keys, unique by fingerprint: users sign in with theirs, deploy keys open repositories. */

import { Failure } from '../../conf/failures.js'
import type { SshKey } from '../../conf/ssh-key.js'
import { checkText } from '../database/bindings.js'
import { type Database, transaction } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import { isReferenceViolation, isUniqueViolation } from '../database/errors.js'
import { offsetOf, type Page, type Paged } from '../database/page.js'
import { USER_COLUMNS, type User, type UserRow, userOf } from './users.js'

/** SSH key with its user. */
export interface KnownKey {
  readonly id: number
  /** Undefined for a deploy key. */
  readonly user: User | undefined
  readonly lastUsedAtMs: number | undefined
}

/** Returns the key with that fingerprint (`SHA256:…`). Each SSH connection runs this one query. */
export async function findKeyByFingerprint(
  db: Database,
  fingerprint: string,
): Promise<KnownKey | undefined> {
  const [row] = await selectRows<KnownRow & UserRow>(db, SELECT_KNOWN, [checkText(fingerprint)])
  if (row === undefined) return undefined
  return {
    id: row.key_id,
    user: row.key_user_id === null ? undefined : userOf(row),
    lastUsedAtMs: row.key_last_used_at ?? undefined,
  }
}

interface KnownRow {
  readonly key_id: number
  readonly key_user_id: number | null
  readonly key_last_used_at: number | null
}

const SELECT_KNOWN = `select k.id as key_id, k.user_id as key_user_id,
  k.last_used_at as key_last_used_at, ${USER_COLUMNS} from ssh_keys k
  left join users u on u.owner_id = k.user_id left join owners o on o.id = u.owner_id
  left join emails e on e.user_id = u.owner_id and e.is_primary = 1 where k.fingerprint = ?`

/** Sets the time when a key was last used. */
export async function touchKey(db: Database, keyId: number, nowMs: number): Promise<void> {
  await db('ssh_keys').where({ id: keyId }).update({ last_used_at: nowMs })
}

/** SSH key with which its user signs in. */
export interface UserKey {
  readonly id: number
  readonly userId: number
  readonly title: string
  readonly key: SshKey
  readonly createdAtMs: number
  readonly lastUsedAtMs: number | undefined
}

export type NewUserKey = Pick<UserKey, 'userId' | 'title' | 'key'>

/** Error text if a key to add belongs to a user, or would be both a user's key and a deploy key. */
export const KEY_TAKEN = 'Key content has been used as non-deploy key'

/**
 * Adds a key to a user. Throws `invalid` if the key is in use already, also as a deploy key, or if
 * the user has a key with that title, and `not_found` if the user does not exist.
 */
export async function addUserKey(db: Database, wanted: NewUserKey): Promise<UserKey> {
  const { userId, title, key } = wanted
  const createdAtMs = Date.now()
  try {
    const columns = { user_id: userId, title, comment: key.comment, created_at: createdAtMs }
    // Concurrent inserts of one key can deadlock on MySQL when the first is rolled back.
    // `transaction` runs them again.
    const id = await transaction(db, (trx) => insertKey(trx, key, columns))
    return { id, userId, title, key, createdAtMs, lastUsedAtMs: undefined }
  } catch (error) {
    const cause = { cause: error }
    if (isReferenceViolation(error)) throw new Failure('not_found', 'user does not exist', cause)
    if (!isUniqueViolation(error)) throw error
    const isTaken = (await findKeyByFingerprint(db, key.fingerprint)) !== undefined
    throw new Failure('invalid', isTaken ? KEY_TAKEN : 'Key title has been used', cause)
  }
}

/** Columns of `ssh_keys` besides those of the key itself. */
interface KeyColumns {
  readonly user_id: number | null
  readonly title: string | null
  readonly comment: string | null
  readonly created_at: number
}

/** Inserts a key and returns its id. Throws a unique violation if the key exists. */
export async function insertKey(db: Database, key: SshKey, columns: KeyColumns): Promise<number> {
  const { algorithm, base64, fingerprint } = key
  const row = { algorithm, base64, fingerprint, ...columns, last_used_at: null }
  const [id] = await db('ssh_keys').insert(row)
  if (id === undefined) throw new Error('The insert returned no id.')
  return id
}

export interface UserKeyQuery {
  readonly page: Page
  readonly fingerprint?: string | undefined
}

/** Returns the keys of a user, oldest first. */
export async function listUserKeys(
  db: Database,
  userId: number,
  { page, fingerprint }: UserKeyQuery,
): Promise<Paged<UserKey>> {
  const where = 'where k.user_id = ? and (? is null or k.fingerprint = ?)'
  const bindings = [userId, fingerprint ?? null, fingerprint ?? null]
  const [count] = await selectRows<{ total: number }>(
    db,
    `select count(*) as total from ssh_keys k ${where}`,
    bindings,
  )
  const rows = await selectRows<UserKeyRow>(
    db,
    `${SELECT_USER_KEYS} ${where} order by k.id limit ? offset ?`,
    [...bindings, page.limit, offsetOf(page)],
  )
  return { entries: rows.map(userKeyOf), total: count?.total ?? 0 }
}

/** Returns a user's key by its id. */
export async function findUserKey(
  db: Database,
  userId: number,
  keyId: number,
): Promise<UserKey | undefined> {
  const [row] = await selectRows<UserKeyRow>(
    db,
    `${SELECT_USER_KEYS} where k.id = ? and k.user_id = ?`,
    [keyId, userId],
  )
  return row === undefined ? undefined : userKeyOf(row)
}

/** Fields of a key that a line of authorized_keys needs. */
export type ListedKey = Pick<SshKey, 'algorithm' | 'base64' | 'fingerprint'>

const KEYS_PER_QUERY = 1_000

/** Yields every key of users and repositories, oldest first. */
export async function* allKeys(db: Database): AsyncIterable<ListedKey> {
  let last = 0
  for (;;) {
    const rows = await selectRows<ListedKey & { id: number }>(
      db,
      'select id, algorithm, base64, fingerprint from ssh_keys where id > ? order by id limit ?',
      [last, KEYS_PER_QUERY],
    )
    if (rows.length === 0) return
    for (const { id, ...key } of rows) {
      yield key
      last = id
    }
  }
}

/** Deletes a user's key. Returns false if the user has no key with that id. */
export async function removeUserKey(db: Database, userId: number, keyId: number): Promise<boolean> {
  return (await db('ssh_keys').where({ id: keyId, user_id: userId }).delete()) > 0
}

const SELECT_USER_KEYS = `select k.id, k.user_id, k.title, k.algorithm, k.base64, k.comment,
  k.fingerprint, k.created_at, k.last_used_at from ssh_keys k`

interface UserKeyRow extends SshKey {
  readonly id: number
  readonly user_id: number
  readonly title: string
  readonly created_at: number
  readonly last_used_at: number | null
}

function userKeyOf(row: UserKeyRow): UserKey {
  const { algorithm, base64, comment, fingerprint } = row
  return {
    id: row.id,
    userId: row.user_id,
    title: row.title,
    key: { algorithm, base64, comment, fingerprint },
    createdAtMs: row.created_at,
    lastUsedAtMs: row.last_used_at ?? undefined,
  }
}

/** Returns the ids of the users of keys, by fingerprint. Leaves out deploy keys. Runs one query. */
export async function usersOfFingerprints(
  db: Database,
  fingerprints: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  if (fingerprints.length === 0) return new Map()
  const rows = await selectRows<{ fingerprint: string; user_id: number }>(
    db,
    `select fingerprint, user_id from ssh_keys
     where user_id is not null and fingerprint in (${fingerprints.map(() => '?').join(', ')})`,
    [...fingerprints],
  )
  return new Map(rows.map((row) => [row.fingerprint, row.user_id]))
}
