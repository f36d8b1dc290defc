/** A received file becomes a blob: first its bytes in their place, then the rows that name it. */

import { randomBytes } from 'node:crypto'
import { Failure } from '../conf/failures.js'
import type { NewBlob } from '../sql/packages/blobs.js'
import type { ReceivedFile } from './received-file.js'
import type { BlobStorage } from './storage/storage.js'

/**
 * What `name` writes down of the blob, with the key that its bytes are kept under: another one
 * where they were known before. The bytes are durable before any row names them, so that a crash
 * leaves a blob without a name at the worst, which the sweeper finds.
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
    // Anything else may mean that the rows are there and only the word of it was lost.
    if (error instanceof Failure && error.failure !== 'unavailable') await storage.remove(key)
    throw error
  }
  if (named.blobKey !== key) await storage.remove(key)
  return named
}
