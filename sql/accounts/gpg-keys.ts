/** OpenPGP keys of users, unique by fingerprint. */

import { Failure } from '../../conf/failures.js'
import type { OpenpgpKeyFacts } from '../../conf/openpgp-key.js'
import { type Database, transaction } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import { isUniqueViolation } from '../database/errors.js'
import { offsetOf, type Page, type Paged } from '../database/page.js'

/** Maximum number of keys of a user, because a signature is tried with all of them. */
export const GPG_KEYS_MAX = 20

export interface GpgKey {
  readonly id: number
  readonly userId: number
  readonly fingerprint: string
  /** The key in base64. */
  readonly content: string
  readonly details: OpenpgpKeyFacts
  /** True if the user has signed a token with the key. */
  readonly isVerified: boolean
  readonly addedAtMs: number
}

export type NewGpgKey = Omit<GpgKey, 'id' | 'addedAtMs'>

/**
 * Adds a key. Throws `invalid` if any user has a key with this fingerprint, or the user has
 * GPG_KEYS_MAX keys.
 */
export async function addGpgKey(db: Database, wanted: NewGpgKey): Promise<GpgKey> {
  const addedAtMs = Date.now()
  const { userId, fingerprint, content, details, isVerified } = wanted
  try {
    const id = await transaction(db, async (trx) => {
      // The row lock makes concurrent additions count each other's keys.
      await trx('users').where({ owner_id: userId }).forUpdate().first('owner_id')
      if ((await listGpgKeysOf(trx, [userId])).length >= GPG_KEYS_MAX) {
        throw new Failure('invalid', `A user has at most ${GPG_KEYS_MAX} GPG keys.`)
      }
      const [inserted] = await trx('gpg_keys').insert({
        user_id: userId,
        fingerprint,
        content,
        details: JSON.stringify(details),
        is_verified: isVerified,
        created_at: addedAtMs,
      })
      return inserted
    })
    if (id === undefined) throw new Error('The insert returned no id.')
    return { ...wanted, id, addedAtMs }
  } catch (error) {
    if (!isUniqueViolation(error)) throw error
    throw new Failure('invalid', 'A key with the same id already exists', { cause: error })
  }
}

/** Returns the keys of a user, oldest first. */
export async function listGpgKeys(
  db: Database,
  userId: number,
  page: Page,
): Promise<Paged<GpgKey>> {
  const keys = await listGpgKeysOf(db, [userId])
  const start = offsetOf(page)
  return { entries: keys.slice(start, start + page.limit), total: keys.length }
}

/** Returns all keys of the users, oldest first. */
export async function listGpgKeysOf(
  db: Database,
  userIds: readonly number[],
): Promise<readonly GpgKey[]> {
  if (userIds.length === 0) return []
  const marks = userIds.map(() => '?').join(', ')
  const rows = await selectRows<GpgKeyRow>(
    db,
    `select id, user_id, fingerprint, content, details, is_verified, created_at
     from gpg_keys where user_id in (${marks}) order by id`,
    [...userIds],
  )
  return rows.map(gpgKeyOf)
}

/** Returns a user's key by its id. */
export async function findGpgKey(
  db: Database,
  userId: number,
  keyId: number,
): Promise<GpgKey | undefined> {
  return (await listGpgKeysOf(db, [userId])).find(({ id }) => id === keyId)
}

/** Records that the user has signed a token with the key. */
export async function setGpgKeyVerified(db: Database, keyId: number): Promise<void> {
  await db('gpg_keys').where({ id: keyId }).update({ is_verified: true })
}

/** Deletes a user's key. Returns false if the user has no key with that id. */
export async function removeGpgKey(db: Database, userId: number, keyId: number): Promise<boolean> {
  return (await db('gpg_keys').where({ id: keyId, user_id: userId }).delete()) > 0
}

interface GpgKeyRow {
  readonly id: number
  readonly user_id: number
  readonly fingerprint: string
  readonly content: string
  readonly details: string
  readonly is_verified: number
  readonly created_at: number
}

function gpgKeyOf(row: GpgKeyRow): GpgKey {
  return {
    id: row.id,
    userId: row.user_id,
    fingerprint: row.fingerprint,
    content: row.content,
    details: JSON.parse(row.details),
    isVerified: row.is_verified === 1,
    addedAtMs: row.created_at,
  }
}
