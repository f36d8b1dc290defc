/** Storing a received file as a blob: first its bytes, then the rows that refer to it. */

import { randomBytes } from 'node:crypto'
import { Failure } from '../conf/failures.js'
import type { NewBlob } from '../sql/packages/blobs.js'
import type { ReceivedFile } from './received-file.js'
import type { BlobStorage } from './storage/storage.js'

/**
 * Stores a file and calls `name` to add the rows that refer to the blob. `name` returns the key of
 * an existing blob if the database has one with the same bytes; then the new one is removed. The
 * bytes are durable before a row refers to them, so a crash can only leave an unreferenced blob,
 * which the sweeper removes.
 */
export async function storeBlob<T extends { readonly blobKey: string }>(
  storage: BlobStorage,
  { path, bytes, digests }: Pick<ReceivedFile, 'path' | 'bytes' | 'digests'>,
  name: (blob: NewBlob) => Promise<T>,
): Promise<T> {
  const key = `${digests.sha256}-${randomBytes(8).toString('hex')}`
  await storage.put(key, { path, bytes })
  let named: T
  try {
    named = await name({ key, bytes, digests })
  } catch (error) {
    // After any other error, the rows can exist, because only the confirmation was lost.
    if (error instanceof Failure && error.failure !== 'unavailable') await storage.remove(key)
    throw error
  }
  if (named.blobKey !== key) await storage.remove(key)
  return named
}
