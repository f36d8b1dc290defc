/** Removes unused blobs: those of deleted files, and leftovers of interrupted uploads. */

import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { CRASH_GRACE_MS, unlessMissing } from '../conf/lib/disk.js'
import { isHeld } from '../sql/admin/holds.js'
import type { Database } from '../sql/database/database.js'
import { pagesOf } from '../sql/database/page.js'
import { deleteUnusedBlob, knownBlobKeys, listUnusedBlobs } from '../sql/packages/blobs.js'
import type { BlobStorage } from './storage/storage.js'

export interface Swept {
  /** Number of blobs whose last file was deleted. */
  readonly unused: number
  /** Number of blobs without a row, and of files of interrupted uploads. */
  readonly left: number
}

export interface SweepOptions {
  readonly db: Database
  readonly storage: BlobStorage
  readonly signal?: AbortSignal
  /** Minimum age of leftovers; younger files without a row can belong to a running upload. */
  readonly graceMs?: number
}

const BATCH = 200

/** Removes unused blobs once. Can be interrupted at any point, and can run concurrently. */
export async function sweepBlobs(options: SweepOptions): Promise<Swept> {
  const { storage, graceMs = CRASH_GRACE_MS } = options
  const unused = await sweepUnused(options)
  const received = await sweepIncoming(storage, graceMs)
  return { unused, left: received + (await sweepNameless(options, graceMs)) }
}

/**
 * Removes the blobs of deleted files. The row is deleted before the blob, because a blob without a
 * row is found again, but a row without its blob would be an inconsistency. During a backup the
 * blob is kept, because the copy of the database may have the row.
 */
async function sweepUnused({ db, storage, signal }: SweepOptions): Promise<number> {
  let removed = 0
  for await (const page of pagesOf((rows) => listUnusedBlobs(db, rows))) {
    for (const { id, key } of page) {
      if (signal?.aborted) return removed
      if (!(await deleteUnusedBlob(db, id)) || (await isHeld(db))) continue
      await storage.remove(key)
      removed += 1
    }
  }
  return removed
}

/**
 * Removes files of interrupted uploads. The file of a running upload is kept, because its
 * modification time is recent.
 */
async function sweepIncoming(storage: BlobStorage, graceMs: number): Promise<number> {
  const left = await listIncoming(storage, graceMs)
  for (const path of left) await rm(path, { force: true })
  return left.length
}

/** Returns the paths of received files that have not changed for that time. */
export async function listIncoming(
  { incomingFolder }: BlobStorage,
  ageMs: number,
): Promise<readonly string[]> {
  const left: string[] = []
  for (const name of await readdir(incomingFolder)) {
    const path = join(incomingFolder, name)
    const found = await unlessMissing(stat(path))
    if (found !== undefined && found.mtimeMs <= Date.now() - ageMs) left.push(path)
  }
  return left
}

/** Removes blobs without a row, but none during a backup: the copy may have a row for them. */
async function sweepNameless(
  { db, storage, signal }: SweepOptions,
  graceMs: number,
): Promise<number> {
  let removed = 0
  let batch: string[] = []
  const sweep = async () => {
    const known = await knownBlobKeys(db, batch)
    const nameless = batch.filter((key) => !known.has(key))
    batch = []
    if (nameless.length === 0 || (await isHeld(db))) return
    for (const key of nameless) await storage.remove(key)
    removed += nameless.length
  }
  for await (const { key, writtenAtMs } of storage.list()) {
    if (signal?.aborted) return removed
    if (writtenAtMs < Date.now() - graceMs) batch.push(key)
    if (batch.length === BATCH) await sweep()
  }
  await sweep()
  return removed
}
