/** Blobs as the database knows them: which of them no file needs any more. */

import type { Database } from './database.js'
import { selectRows } from './dialect.js'
import { isReferenceViolation } from './errors.js'

export interface UnusedBlob {
  readonly id: number
  readonly key: string
}

/** Some of the blobs that no file has, with ids above that one, in their order. */
export async function listUnusedBlobs(
  db: Database,
  { afterId, limit }: { readonly afterId: number; readonly limit: number },
): Promise<readonly UnusedBlob[]> {
  const rows = await selectRows<{ id: number; storage_key: string }>(
    db,
    `select b.id, b.storage_key from blobs b
      where b.id > ? and not exists (select 1 from package_files f where f.blob_id = b.id)
      order by b.id limit ?`,
    [afterId, limit],
  )
  return rows.map(({ id, storage_key }) => ({ id, key: storage_key }))
}

/** Forgets a blob, unless a file has come to need it. Returns whether it is forgotten. */
export async function forgetUnusedBlob(db: Database, blobId: number): Promise<boolean> {
  try {
    return (await db('blobs').where({ id: blobId }).delete()) > 0
  } catch (error) {
    // The reference of the file is what decides, whoever comes first.
    if (isReferenceViolation(error)) return false
    throw error
  }
}

/** Those of the storage's keys that belong to a blob. */
export async function knownBlobKeys(
  db: Database,
  keys: readonly string[],
): Promise<ReadonlySet<string>> {
  if (keys.length === 0) return new Set()
  const marks = keys.map(() => '?').join(', ')
  const rows = await selectRows<{ storage_key: string }>(
    db,
    `select storage_key from blobs where storage_key in (${marks})`,
    [...keys],
  )
  return new Set(rows.map(({ storage_key }) => storage_key))
}
