/** Generations of index files: built under a lease, published atomically, and kept for a while. */

import type { Digests } from '../../conf/package.js'
import { type Database, transaction } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import { BLOB_COLUMNS, type BlobRow, blobOf, type NewBlob, placeBlob } from './blobs.js'

export interface GenerationFile {
  readonly path: string
  readonly bytes: number
  readonly digests: Digests
  readonly blobKey: string
}

export interface Lease {
  readonly indexId: number
  /** Random id of this lease. */
  readonly lease: string
}

/** Leases an index for a build. Returns false if another process holds it. */
export async function leaseIndex(
  db: Database,
  { indexId, lease }: Lease,
  leaseMs: number,
): Promise<boolean> {
  const nowMs = Date.now()
  const taken = await db('package_indexes')
    .where({ id: indexId })
    .where((free) => free.whereNull('lease').orWhere('leased_until', '<', nowMs))
    .update({ lease, leased_until: nowMs + leaseMs })
  return taken > 0
}

/** Extends the lease of an index. Returns false if it was lost. */
export async function renewIndexLease(
  db: Database,
  { indexId, lease }: Lease,
  leaseMs: number,
): Promise<boolean> {
  const changes = { leased_until: Date.now() + leaseMs }
  return (await db('package_indexes').where({ id: indexId, lease }).update(changes)) > 0
}

/** Releases the lease of an index without a build. */
export async function returnIndexLease(db: Database, { indexId, lease }: Lease): Promise<void> {
  await db('package_indexes')
    .where({ id: indexId, lease })
    .update({ lease: null, leased_until: null })
}

export interface NewGeneration {
  readonly lease: Lease
  /** Generation of the entries that the files were built from. */
  readonly generation: number
  /** Time for which the files are valid for clients; undefined for no limit. */
  readonly validMs: number | undefined
  /** Generations that were replaced before this time are deleted. */
  readonly keptSinceMs: number
  /** Files whose blobs are stored already. */
  readonly files: ReadonlyArray<{ readonly path: string; readonly blob: NewBlob }>
}

const SECOND_MS = 1_000

/**
 * Publishes a generation, which readers see from the commit on, and ends the lease. Returns the
 * storage keys that are not needed because the same bytes were stored before. Returns undefined,
 * without any change, if the lease was lost.
 */
export async function publishGeneration(
  db: Database,
  { lease, generation, validMs, keptSinceMs, files }: NewGeneration,
): Promise<readonly string[] | undefined> {
  const { indexId } = lease
  const nowMs = Date.now()
  // Last-Modified counts in seconds (RFC 9110 §8.8.2), so each generation gets a later second.
  const thisSecondMs = Math.floor(nowMs / SECOND_MS) * SECOND_MS
  return await transaction(db, async (trx) => {
    const changed = await trx('package_indexes')
      .where({ id: indexId, lease: lease.lease })
      .update({
        built: generation,
        valid_ms: validMs ?? null,
        lease: null,
        leased_until: null,
        modified_at: trx.raw('case when modified_at < ? then ? else modified_at + ? end', [
          thisSecondMs,
          thisSecondMs,
          SECOND_MS,
        ]),
      })
    if (changed === 0) return undefined
    const spare: string[] = []
    await trx('package_index_files').where({ index_id: indexId, generation }).delete()
    // All transactions insert in this order, so they cannot deadlock.
    for (const { path, blob } of files.toSorted((a, b) =>
      a.blob.digests.sha256 < b.blob.digests.sha256 ? -1 : 1,
    )) {
      const kept = await placeBlob(trx, blob)
      if (kept.key !== blob.key) spare.push(blob.key)
      await trx('package_index_files').insert({
        index_id: indexId,
        generation,
        path,
        blob_id: kept.id,
        created_at: nowMs,
      })
    }
    const noted = trx('package_index_changes').where({ index_id: indexId })
    await noted.where('generation', '<=', generation).delete()
    await deleteOld(trx, { indexId, generation, keptSinceMs })
    return spare
  })
}

interface Old {
  readonly indexId: number
  readonly generation: number
  readonly keptSinceMs: number
}

/** Deletes generations that were replaced so long ago that no client can still be reading them. */
async function deleteOld(trx: Database, { indexId, generation, keptSinceMs }: Old): Promise<void> {
  // A generation is replaced when the next one is created.
  const next = await trx('package_index_files')
    .where({ index_id: indexId })
    .where('generation', '<', generation)
    .where('created_at', '<', keptSinceMs)
    .max({ generation: 'generation' })
    .first()
  if (next?.generation == null) return
  await trx('package_index_files')
    .where({ index_id: indexId })
    .where('generation', '<', next.generation)
    .delete()
}

/** Returns a file of an index by its path, in one generation. */
export async function findGenerationFile(
  db: Database,
  indexId: number,
  { generation, path }: { readonly generation: number; readonly path: string },
): Promise<GenerationFile | undefined> {
  const [row] = await selectRows<GenerationRow>(
    db,
    `${SELECT} where g.index_id = ? and g.generation = ? and g.path = ?`,
    [indexId, generation, path],
  )
  return row === undefined ? undefined : fileOf(row)
}

/** Returns all files of one generation of an index. */
export async function listGenerationFiles(
  db: Database,
  indexId: number,
  generation: number,
): Promise<readonly GenerationFile[]> {
  const rows = await selectRows<GenerationRow>(
    db,
    `${SELECT} where g.index_id = ? and g.generation = ?`,
    [indexId, generation],
  )
  return rows.map(fileOf)
}

/** Returns a file of an index by its digest, from the newest stored generation that contains it. */
export async function findGenerationFileByDigest(
  db: Database,
  indexId: number,
  { algorithm, digest }: { readonly algorithm: 'sha256' | 'sha512'; readonly digest: string },
): Promise<GenerationFile | undefined> {
  const [row] = await selectRows<GenerationRow>(
    db,
    `${SELECT} where g.index_id = ? and b.${algorithm === 'sha256' ? 'sha256' : 'sha512'} = ?
      order by g.id desc limit 1`,
    [indexId, digest],
  )
  return row === undefined ? undefined : fileOf(row)
}

const SELECT = `select g.path as path, ${BLOB_COLUMNS}
  from package_index_files g join blobs b on b.id = g.blob_id`

interface GenerationRow extends BlobRow {
  readonly path: string
}

function fileOf(row: GenerationRow): GenerationFile {
  return { path: row.path, ...blobOf(row) }
}
