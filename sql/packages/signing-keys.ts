/** Keys that sign indexes, of each owner and format: the newest and those before, sealed. */

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
  /** Of a key before the newest: when it ends. */
  readonly signsUntilMs: number | undefined
}

/** All keys that sign for an owner in a format, newest first; empty before the first is made. */
export async function listSigningKeys(
  db: Database,
  { ownerId, format }: PackageNamespace,
): Promise<readonly KeptKey[]> {
  // One statement, so that a rotation is seen whole or not at all.
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

/** Keeps the first key, unless there is one already. Returns whether it was kept. */
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
  /** The newest until now. */
  readonly from: KeptKey
  readonly to: SealedKey
  /** No key but the new one signs for longer; where that is now, none does from now on. */
  readonly signsUntilMs: number
}

/** Puts a new key before the others. False: the newest is not the expected one any more. */
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

/** Removes the keys whose time has come, of all owners. Returns how many these were. */
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

/** Removes all keys of an owner in a format but the newest, whatever their time. */
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
