/** Sealed key that signs the ID tokens of OpenID Connect. */

import type { Database } from '../database/database.js'
import { isUniqueViolation } from '../database/errors.js'
import type { SealedKey } from '../packages/signing-keys.js'

const ONLY = 1

/** Returns the key; undefined if it has not been created yet. */
export async function findOauthKey(db: Database): Promise<SealedKey | undefined> {
  const row = await db('oauth_keys').where({ id: ONLY }).first('private_sealed', 'public_text')
  return row && { privateSealed: row.private_sealed, publicText: row.public_text }
}

/** Inserts the key unless one exists. Returns the stored key. */
export async function keepOauthKey(db: Database, key: SealedKey): Promise<SealedKey> {
  try {
    await db('oauth_keys').insert({
      id: ONLY,
      private_sealed: key.privateSealed,
      public_text: key.publicText,
      created_at: Date.now(),
    })
    return key
  } catch (error) {
    const kept = isUniqueViolation(error) ? await findOauthKey(db) : undefined
    if (kept === undefined) throw error
    return kept
  }
}
