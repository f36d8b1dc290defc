/** Security keys of accounts with a second factor, and single-use challenges. */

import { hash } from 'node:crypto'
import { checkText } from '../database/bindings.js'
import { type Database, transaction } from '../database/database.js'
import { orConflict, orNotFound } from '../database/errors.js'

export interface SecurityKey {
  readonly id: number
  readonly name: string
  /** Credential id that the key reports, in base64url. */
  readonly credentialId: string
  readonly createdAtMs: number
  /** Undefined before the first sign-in with the key. */
  readonly lastUsedAtMs: number | undefined
}

export interface NewSecurityKey extends Pick<SecurityKey, 'name' | 'credentialId'> {
  readonly userId: number
  /** COSE_Key (RFC 9052 §7), in base64url. */
  readonly publicKey: string
  readonly signCounter: number
}

/**
 * Adds a key. Throws `conflict` if it is registered with any account, and `not_found` if the user
 * has no second factor.
 */
export async function addSecurityKey(db: Database, key: NewSecurityKey): Promise<void> {
  const row = {
    user_id: key.userId,
    name: key.name,
    credential_id: key.credentialId,
    credential_hash: hashOf(key.credentialId),
    public_key: key.publicKey,
    sign_counter: key.signCounter,
    created_at: Date.now(),
  }
  await orConflict(
    'This security key is registered already: remove it first, or use another key.',
    () => orNotFound('Set up a second factor first.', () => db('security_keys').insert(row)),
  )
}

/** Returns the keys of a user, oldest first. */
export async function listSecurityKeys(
  db: Database,
  userId: number,
): Promise<readonly SecurityKey[]> {
  const rows = await db('security_keys').where({ user_id: userId }).orderBy('id')
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    credentialId: row.credential_id,
    createdAtMs: row.created_at,
    lastUsedAtMs: row.last_used_at ?? undefined,
  }))
}

/** Returns a user's key by its credential id, with the public key that verifies its signatures. */
export async function findSecurityKey(
  db: Database,
  userId: number,
  credentialId: string,
): Promise<{ readonly id: number; readonly name: string; readonly publicKey: string } | undefined> {
  const where = { user_id: userId, credential_hash: hashOf(credentialId) }
  const row = await db('security_keys').where(where).first('id', 'name', 'public_key')
  return row && { id: row.id, name: row.name, publicKey: row.public_key }
}

/**
 * Accepts a signature by its counter, which must exceed every accepted one. A key without a counter
 * always sends 0. Returns false if the counter is not accepted.
 */
export async function acceptSignature(db: Database, id: number, counter: number): Promise<boolean> {
  const accepted = await db('security_keys')
    .where({ id })
    .andWhere((isNext) => {
      isNext.where('sign_counter', '<', counter)
      if (counter === 0) isNext.orWhere({ sign_counter: 0 })
    })
    .update({ sign_counter: counter, last_used_at: Date.now() })
  return accepted > 0
}

/** Deletes a user's key. Returns false if the user has no key with that id. */
export async function deleteSecurityKey(
  db: Database,
  userId: number,
  id: number,
): Promise<boolean> {
  return (await db('security_keys').where({ id, user_id: userId }).delete()) > 0
}

export interface Challenge {
  /** SHA-256 of the challenge, in lower-case hexadecimal. */
  readonly hash: string
  readonly userId: number
  /** Sign-in that the challenge is for; undefined if it is for adding a key. */
  readonly ticketHash: string | undefined
}

/**
 * Stores a challenge, replacing another one for the same purpose. Throws `not_found` if the sign-in
 * has ended.
 */
export async function keepChallenge(
  db: Database,
  { hash, ...purpose }: Challenge,
  expiresAtMs: number,
): Promise<void> {
  const row = { ...rowOf(purpose), hash, expires_at: expiresAtMs }
  await orNotFound('This sign-in has ended: sign in again.', () =>
    transaction(db, async (trx) => {
      await trx('security_key_challenges').where(rowOf(purpose)).delete()
      await trx('security_key_challenges').insert(row)
    }),
  )
}

/** Deletes a challenge. Returns false if it is missing, expired, or for another user or sign-in. */
export async function takeChallenge(db: Database, challenge: Challenge): Promise<boolean> {
  const taken = await db('security_key_challenges')
    .where({ ...rowOf(challenge), hash: checkText(challenge.hash) })
    .andWhere('expires_at', '>', Date.now())
    .delete()
  return taken > 0
}

/** Deletes challenges that expired before that time. Returns their number. */
export async function removeExpiredChallenges(db: Database, beforeMs: number): Promise<number> {
  return await db('security_key_challenges').where('expires_at', '<', beforeMs).delete()
}

function rowOf({ userId, ticketHash }: Omit<Challenge, 'hash'>) {
  return { user_id: userId, ticket_hash: ticketHash ?? null }
}

function hashOf(credentialId: string): string {
  return hash('sha256', checkText(credentialId))
}
