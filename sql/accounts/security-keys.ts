/** Security keys of accounts with a second factor, and challenges that each count once. */

import { hash } from 'node:crypto'
import { checkText } from '../database/bindings.js'
import { type Database, transaction } from '../database/database.js'
import { orConflict, orNotFound } from '../database/errors.js'

export interface SecurityKey {
  readonly id: number
  readonly name: string
  /** As the key names itself, in base64url. */
  readonly credentialId: string
  readonly createdAtMs: number
  /** Undefined before the first sign-in with it. */
  readonly lastUsedAtMs: number | undefined
}

export interface NewSecurityKey extends Pick<SecurityKey, 'name' | 'credentialId'> {
  readonly userId: number
  /** In COSE's form, in base64url. */
  readonly publicKey: string
  readonly signCounter: number
}

/** Adds a key. Throws `conflict` for one that is known, and `not_found` where no factor is. */
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
  await orConflict('This key is known already: remove it first, or take another one.', () =>
    orNotFound('Set up a second factor first.', () => db('security_keys').insert(row)),
  )
}

/** The keys of a user, the oldest first. */
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

/** The key of a user that names itself so, with what its signatures are checked with. */
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
 * Whether a signature with that number counts: each has a greater one than those before, unless the
 * key counts nothing at all. From now on none up to it does.
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

/** Takes a key from a user. Returns whether there was one. */
export async function deleteSecurityKey(
  db: Database,
  userId: number,
  id: number,
): Promise<boolean> {
  return (await db('security_keys').where({ id, user_id: userId }).delete()) > 0
}

export interface Challenge {
  /** SHA-256 of it, in lower-case hexadecimal. */
  readonly hash: string
  readonly userId: number
  /** Of the sign-in that it is for; undefined where a key is to be added. */
  readonly ticketHash: string | undefined
}

/** Keeps a challenge, in place of another for the same. Throws `not_found` for a sign-in's end. */
export async function keepChallenge(
  db: Database,
  { hash, ...purpose }: Challenge,
  expiresAtMs: number,
): Promise<void> {
  const row = { ...rowOf(purpose), hash, expires_at: expiresAtMs }
  await orNotFound('That sign-in has ended: begin again.', () =>
    transaction(db, async (trx) => {
      await trx('security_key_challenges').where(rowOf(purpose)).delete()
      await trx('security_key_challenges').insert(row)
    }),
  )
}

/** Uses a challenge up. Returns whether it counted, for that user and that sign-in. */
export async function takeChallenge(db: Database, challenge: Challenge): Promise<boolean> {
  const taken = await db('security_key_challenges')
    .where({ ...rowOf(challenge), hash: checkText(challenge.hash) })
    .andWhere('expires_at', '>', Date.now())
    .delete()
  return taken > 0
}

/** Removes the challenges that ended before. Returns how many there were. */
export async function removeExpiredChallenges(db: Database, beforeMs: number): Promise<number> {
  return await db('security_key_challenges').where('expires_at', '<', beforeMs).delete()
}

function rowOf({ userId, ticketHash }: Omit<Challenge, 'hash'>) {
  return { user_id: userId, ticket_hash: ticketHash ?? null }
}

function hashOf(credentialId: string): string {
  return hash('sha256', checkText(credentialId))
}
