/** Keys that sign indexes: a pair for each owner and format, the private half sealed. */

import type { Database } from './database.js'
import { selectRows } from './dialect.js'
import { isUniqueViolation } from './errors.js'
import type { PackageShelf } from './packages.js'

export interface SealedKey {
  readonly privateSealed: string
  readonly publicText: string
}

/** The key of an owner for a format, if one was made. */
export async function findSigningKey(
  db: Database,
  { ownerId, format }: PackageShelf,
): Promise<SealedKey | undefined> {
  const [row] = await selectRows<{ private_sealed: string; public_text: string }>(
    db,
    'select private_sealed, public_text from signing_keys where owner_id = ? and format = ?',
    [ownerId, format],
  )
  if (row === undefined) return undefined
  return { privateSealed: row.private_sealed, publicText: row.public_text }
}

/** Keeps a key, unless there is one already. Returns whether it was kept. */
export async function addSigningKey(
  db: Database,
  { ownerId, format }: PackageShelf,
  { privateSealed, publicText }: SealedKey,
): Promise<boolean> {
  try {
    await db('signing_keys').insert({
      ...{ owner_id: ownerId, format, private_sealed: privateSealed, public_text: publicText },
      created_at: Date.now(),
    })
    return true
  } catch (error) {
    if (isUniqueViolation(error)) return false
    throw error
  }
}
