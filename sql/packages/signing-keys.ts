/** Sealed signing keys of indexes, for each owner and format: the newest and the former ones. */

import { type Database, transaction } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import { isUniqueViolation } from '../database/errors.js'
import { touchIndexes } from './package-indexes.js'
import type { PackageNamespace } from './packages.js'

export interface SealedKey {
  readonly privateSealed: string
  readonly publicText: string
}

export interface KeptKey extends SealedKey {
  readonly createdAtMs: number
  /** Time until which a former key signs; undefined for the newest key. */
  readonly signsUntilMs: number | undefined
}

/**
 * Returns all keys that sign for an owner in a format, newest first; empty if none was created yet.
 */
export async function listSigningKeys(
  db: Database,
  { ownerId, format }: PackageNamespace,
): Promise<readonly KeptKey[]> {
  // Runs one statement, so that a concurrent rotation is either visible as a whole or not at all.
  const rows = await selectRows<KeyRow>(
    db,
    `select 0 as age, id, private_sealed, public_text, created_at, null as signs_until
      from signing_keys where owner_id = ? and format = ?
      union all select 1, id, private_sealed, public_text, created_at, signs_until
      from former_signing_keys where owner_id = ? and format = ?
      order by age, id desc`,
    [ownerId, format, ownerId, format],
  )
  return rows.map((row) => ({
    privateSealed: row.private_sealed,
    publicText: row.public_text,
    createdAtMs: row.created_at,
    signsUntilMs: row.signs_until ?? undefined,
  }))
}

interface KeyRow {
  readonly private_sealed: string
  readonly public_text: string
  readonly created_at: number
  readonly signs_until: number | null
}

/** Inserts the first key unless there is one. Returns true if it was inserted. */
export async function addSigningKey(
  db: Database,
  { ownerId, format }: PackageNamespace,
  { privateSealed, publicText }: SealedKey,
): Promise<boolean> {
  try {
    await db('signing_keys').insert({
      owner_id: ownerId,
      format,
      private_sealed: privateSealed,
      public_text: publicText,
      created_at: Date.now(),
    })
    return true
  } catch (error) {
    if (isUniqueViolation(error)) return false
    throw error
  }
}

export interface KeyRotation {
  /** Newest key before the rotation. */
  readonly from: KeptKey
  readonly to: SealedKey
  /** Time after which only the new key signs; if it has passed, former keys are deleted. */
  readonly signsUntilMs: number
}

/**
 * Replaces the newest key, which becomes a former one. Returns false if `from` is not the newest
 * key.
 */
export async function rotateSigningKey(
  db: Database,
  namespace: PackageNamespace,
  { from, to, signsUntilMs }: KeyRotation,
): Promise<boolean> {
  const place = placeOf(namespace)
  return await transaction(db, async (trx) => {
    const nowMs = Date.now()
    const replaced = await trx('signing_keys')
      .where({ ...place, private_sealed: from.privateSealed })
      .update({ private_sealed: to.privateSealed, public_text: to.publicText, created_at: nowMs })
    if (replaced === 0) return false
    await trx('former_signing_keys').insert({
      ...place,
      private_sealed: from.privateSealed,
      public_text: from.publicText,
      created_at: from.createdAtMs,
      signs_until: signsUntilMs,
    })
    await former(trx, namespace)
      .where('signs_until', '>', signsUntilMs)
      .update({ signs_until: signsUntilMs })
    await former(trx, namespace).where('signs_until', '<=', nowMs).delete()
    await touchIndexes(trx, namespace)
    return true
  })
}

/** Deletes the expired former keys of all owners. Returns their number. */
export async function retireDueKeys(db: Database): Promise<number> {
  const nowMs = Date.now()
  const due = await selectRows<{ owner_id: number; format: string }>(
    db,
    'select distinct owner_id, format from former_signing_keys where signs_until <= ?',
    [nowMs],
  )
  let retired = 0
  for (const { owner_id: ownerId, format } of due) {
    const namespace = { ownerId, format }
    retired += await retire(db, namespace, (keys) => keys.where('signs_until', '<=', nowMs))
  }
  return retired
}

/** Deletes all former keys of an owner in a format, expired or not. Returns their number. */
export async function retireFormerKeys(db: Database, namespace: PackageNamespace): Promise<number> {
  return await retire(db, namespace, (keys) => keys)
}

type Keys = ReturnType<typeof former>

async function retire(
  db: Database,
  namespace: PackageNamespace,
  chosen: (keys: Keys) => Keys,
): Promise<number> {
  return await transaction(db, async (trx) => {
    const retired = await chosen(former(trx, namespace)).delete()
    if (retired > 0) await touchIndexes(trx, namespace)
    return retired
  })
}

function former(db: Database, namespace: PackageNamespace) {
  return db('former_signing_keys').where(placeOf(namespace))
}

function placeOf({ ownerId, format }: PackageNamespace) {
  return { owner_id: ownerId, format }
}
