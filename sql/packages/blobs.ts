/** Rows of stored blobs, unique by their content, and the search for unused ones. */

import type { Digests } from '../../conf/package.js'
import { type Database, transaction } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import { isReferenceViolation, isUniqueViolation } from '../database/errors.js'
import type { RowPage } from '../database/page.js'

/** Blob whose bytes are stored under its key already. */
export interface NewBlob {
  readonly key: string
  readonly bytes: number
  readonly digests: Digests
}

export interface KeptBlob {
  readonly id: number
  readonly key: string
}

/**
 * Inserts a blob, or returns the one with the same bytes. The first read takes no lock, because two
 * transactions that lock a missing row would wait for each other.
 */
export async function placeBlob(trx: Database, blob: NewBlob): Promise<KeptBlob> {
  const { sha256, md5, sha1, sha512 } = blob.digests
  const known = await trx('blobs').where({ sha256 }).first('id', 'storage_key')
  if (known !== undefined) return { id: known.id, key: known.storage_key }
  try {
    const [id] = await trx('blobs').insert({
      sha256,
      md5,
      sha1,
      sha512,
      bytes: blob.bytes,
      storage_key: blob.key,
      created_at: Date.now(),
    })
    if (id === undefined) throw new Error('The insert returned no id.')
    return { id, key: blob.key }
  } catch (error) {
    if (!isUniqueViolation(error)) throw error
    const other = await trx('blobs').where({ sha256 }).forUpdate().first('id', 'storage_key')
    if (other === undefined) throw error
    return { id: other.id, key: other.storage_key }
  }
}

const TRIES_MAX = 5

/** Runs a transaction, and again if an unused blob was deleted concurrently. */
export async function retryPlacing<T>(
  db: Database,
  place: (trx: Database) => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await transaction(db, place)
    } catch (error) {
      if (!isReferenceViolation(error) || attempt === TRIES_MAX) throw error
    }
  }
}

export interface UnusedBlob {
  readonly id: number
  readonly key: string
}

/** Returns blobs that nothing references, with ids above `afterId`, ordered by id. */
export async function listUnusedBlobs(
  db: Database,
  { afterId, limit }: RowPage,
): Promise<readonly UnusedBlob[]> {
  const rows = await selectRows<{ id: number; storage_key: string }>(
    db,
    `select b.id, b.storage_key from blobs b
      where b.id > ? and not exists (select 1 from package_files f where f.blob_id = b.id)
      and not exists (select 1 from package_retired_files r where r.blob_id = b.id)
      and not exists (select 1 from package_index_files g where g.blob_id = b.id)
      and not exists (select 1 from attachments a where a.blob_id = b.id)
      and not exists (select 1 from issue_attachments t where t.blob_id = b.id)
      and not exists (select 1 from import_blobs m where m.blob_id = b.id)
      and not exists (select 1 from workflow_artifact_files w where w.blob_id = b.id)
      and not exists (select 1 from workflow_artifact_parts p where p.blob_id = b.id)
      and not exists (select 1 from lfs_objects l where l.blob_id = b.id)
      order by b.id limit ?`,
    [afterId, limit],
  )
  return rows.map(({ id, storage_key }) => ({ id, key: storage_key }))
}

/** Deletes the row of a blob unless it is referenced. Returns true if the row was deleted. */
export async function deleteUnusedBlob(db: Database, blobId: number): Promise<boolean> {
  try {
    return (await db('blobs').where({ id: blobId }).delete()) > 0
  } catch (error) {
    // The foreign key decides whether a concurrent reference or the deletion comes first.
    if (isReferenceViolation(error)) return false
    throw error
  }
}

/** Returns the storage keys among `keys` that belong to a blob. */
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

/** Row of a blob. */
export interface StoredBlobRow extends NewBlob {
  readonly id: number
}

/** Returns up to `limit` blobs with ids above `afterId`, ordered by id. */
export async function listBlobs(
  db: Database,
  { afterId, limit }: RowPage,
): Promise<readonly StoredBlobRow[]> {
  const rows = await selectRows<BlobRow & { id: number }>(
    db,
    `select b.id, ${BLOB_COLUMNS} from blobs b where b.id > ? order by b.id limit ?`,
    [afterId, limit],
  )
  return rows.map((row) => {
    const { bytes, digests, blobKey: key } = blobOf(row)
    return { id: row.id, key, bytes, digests }
  })
}

/** Columns of a blob, selected from a table with the alias `b`. */
export const BLOB_COLUMNS = `b.bytes as blob_bytes, b.md5 as blob_md5, b.sha1 as blob_sha1,
  b.sha256 as blob_sha256, b.sha512 as blob_sha512, b.storage_key as blob_storage_key`

export interface BlobRow {
  readonly blob_bytes: number
  readonly blob_md5: string
  readonly blob_sha1: string
  readonly blob_sha256: string
  readonly blob_sha512: string
  readonly blob_storage_key: string
}

/** Converts a row of BLOB_COLUMNS. */
export function blobOf(row: BlobRow): {
  readonly bytes: number
  readonly digests: Digests
  readonly blobKey: string
} {
  const { blob_md5: md5, blob_sha1: sha1, blob_sha256: sha256, blob_sha512: sha512 } = row
  return {
    bytes: row.blob_bytes,
    digests: { md5, sha1, sha256, sha512 },
    blobKey: row.blob_storage_key,
  }
}
