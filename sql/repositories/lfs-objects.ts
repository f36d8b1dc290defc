/** Objects of Git LFS that a repository has; a blob stores the bytes of each. */

import { Failure } from '../../conf/failures.js'
import type { Digests } from '../../conf/package.js'
import type { Database } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import { isReferenceViolation, isUniqueViolation } from '../database/errors.js'
import {
  BLOB_COLUMNS,
  type BlobRow,
  blobOf,
  type NewBlob,
  placeBlob,
  retryPlacing,
} from '../packages/blobs.js'
import { type LfsLimits, lfsQuotaOf, lfsQuotaOfOwner, refuseBeyondQuota } from './lfs-quota.js'
import { lockOwner } from './owner-lock.js'

export interface LfsObject {
  readonly bytes: number
  readonly digests: Digests
  readonly blobKey: string
  readonly createdAtMs: number
}

/** An object of a repository. */
export interface LfsObjectName {
  readonly repositoryId: number
  /** SHA-256 of the bytes, in lower-case hexadecimal digits. */
  readonly oid: string
}

/**
 * Adds an object whose blob is stored already, unless the repository has it. Returns the storage
 * key of its bytes, which is another one if they were stored before. Throws `not_found` if the
 * repository was deleted meanwhile, and `insufficient_storage` beyond the quota.
 */
export async function addLfsObject(
  db: Database,
  { repositoryId, oid }: LfsObjectName,
  { blob, limits }: { readonly blob: NewBlob; readonly limits: LfsLimits },
): Promise<{ readonly blobKey: string }> {
  const quota = await lfsQuotaOf(db, repositoryId, limits)
  try {
    return await retryPlacing(db, async (trx) => {
      if (quota.bytesMax !== undefined) await lockOwner(trx, repositoryId)
      const kept = await placeBlob(trx, blob)
      const place = { repository_id: repositoryId, oid }
      const known = await trx('lfs_objects').where(place).first('oid')
      if (known !== undefined) return { blobKey: kept.key }
      await refuseBeyondQuota(trx, quota, blob.bytes)
      const row = { ...place, blob_id: kept.id, bytes: blob.bytes, created_at: Date.now() }
      await trx('lfs_objects').insert(row)
      return { blobKey: kept.key }
    })
  } catch (error) {
    if (isReferenceViolation(error)) {
      throw new Failure('not_found', 'The repository does not exist.', { cause: error })
    }
    // A concurrent upload of the same object was faster.
    const added = isUniqueViolation(error) && (await findLfsObject(db, { repositoryId, oid }))
    if (!added) throw error
    return { blobKey: added.blobKey }
  }
}

/** Object whose blob is protected by an import. */
export interface ImportedLfsObject {
  readonly oid: string
  readonly bytes: number
  readonly blobId: number
}

/** Number of rows of one insert. */
const INSERTED = 100

/**
 * Adds the objects of an import, whose oids differ, to the repository that it creates. The
 * transaction has locked the owner. Throws `insufficient_storage` beyond the quota.
 */
export async function addImportedLfsObjects(
  trx: Database,
  { id: repositoryId, ownerId }: { readonly id: number; readonly ownerId: number },
  { objects, limits }: ImportedLfs,
): Promise<void> {
  const total = objects.reduce((sum, { bytes }) => sum + bytes, 0)
  await refuseBeyondQuota(trx, await lfsQuotaOfOwner(trx, ownerId, limits), total)
  const created_at = Date.now()
  for (let at = 0; at < objects.length; at += INSERTED) {
    const rows = objects.slice(at, at + INSERTED).map(({ oid, bytes, blobId }) => {
      return { repository_id: repositoryId, oid, blob_id: blobId, bytes, created_at }
    })
    await trx('lfs_objects').insert(rows)
  }
}

export interface ImportedLfs {
  readonly objects: readonly ImportedLfsObject[]
  readonly limits: LfsLimits
}

/** Returns an object; undefined if the repository does not have it. */
export async function findLfsObject(
  db: Database,
  { repositoryId, oid }: LfsObjectName,
): Promise<LfsObject | undefined> {
  const [row] = await selectRows<BlobRow & { readonly created_at: number }>(
    db,
    `select l.created_at, ${BLOB_COLUMNS} from lfs_objects l join blobs b on b.id = l.blob_id
      where l.repository_id = ? and l.oid = ?`,
    [repositoryId, oid],
  )
  return row && { ...blobOf(row), createdAtMs: row.created_at }
}

/** Returns the sizes of the objects that the repository has, by oid. */
export async function listLfsSizes(
  db: Database,
  repositoryId: number,
  oids: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  if (oids.length === 0) return new Map()
  const rows = await selectRows<{ oid: string; bytes: number }>(
    db,
    `select l.oid, l.bytes from lfs_objects l
      where l.repository_id = ? and l.oid in (${oids.map(() => '?').join(', ')})`,
    [repositoryId, ...oids],
  )
  return new Map(rows.map(({ oid, bytes }) => [oid, bytes]))
}

/** Gives a new repository all objects of another one, whose commits it has. */
export async function copyLfsObjects(
  trx: Database,
  { fromId, toId }: { readonly fromId: number; readonly toId: number },
): Promise<void> {
  await trx.raw(
    `insert into lfs_objects (repository_id, oid, blob_id, bytes, created_at)
      select ?, l.oid, l.blob_id, l.bytes, ? from lfs_objects l
        where l.repository_id = ?`,
    [toId, Date.now(), fromId],
  )
}

/** True if a repository has an object. */
export async function hasLfsObjects(db: Database, repositoryId: number): Promise<boolean> {
  const rows = await selectRows(
    db,
    'select 1 from lfs_objects l where l.repository_id = ? limit 1',
    [repositoryId],
  )
  return rows.length > 0
}

/** Number of oids in one statement. */
export const LFS_BATCH = 500

/** Gives a repository the named objects of another one, and renews those that it has. */
export async function copyNamedLfsObjects(
  db: Database,
  {
    fromId,
    toId,
    oids,
  }: { readonly fromId: number; readonly toId: number; readonly oids: readonly string[] },
): Promise<void> {
  for (let at = 0; at < oids.length; at += LFS_BATCH) {
    const batch = oids.slice(at, at + LFS_BATCH)
    await db('lfs_objects')
      .where({ repository_id: toId })
      .whereIn('oid', batch)
      .update({ created_at: Date.now() })
    await insertLacking(db, { fromId, toId, batch }).catch(async (error: unknown) => {
      // Another gateway has copied some of them concurrently.
      if (!isUniqueViolation(error)) throw error
      await insertLacking(db, { fromId, toId, batch })
    })
  }
}

async function insertLacking(
  db: Database,
  { fromId, toId, batch }: { fromId: number; toId: number; batch: readonly string[] },
): Promise<void> {
  await db.raw(
    `insert into lfs_objects (repository_id, oid, blob_id, bytes, created_at)
        select ?, l.oid, l.blob_id, l.bytes, ? from lfs_objects l
          left join lfs_objects k on k.repository_id = ? and k.oid = l.oid
          where l.repository_id = ? and k.oid is null
          and l.oid in (${batch.map(() => '?').join(', ')})`,
    [toId, Date.now(), toId, fromId, ...batch],
  )
}
