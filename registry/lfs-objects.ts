/** Objects of Git LFS: received, compared with their name, and served like files of packages. */

import { Failure } from '../conf/failures.js'
import type { Reply, Request } from '../conf/http.js'
import {
  addLfsObject,
  type LfsObject,
  type LfsObjectName,
} from '../sql/repositories/lfs-objects.js'
import { type LfsLimits, lfsQuotaOf, refuseBeyondQuota } from '../sql/repositories/lfs-quota.js'
import { keepForImport } from './attachments.js'
import { storeBlob } from './keep-blob.js'
import { limitBody } from './limited-body.js'
import { type ReceivedFile, receiveFile } from './received-file.js'
import type { Registry } from './registry.js'
import { serveFile } from './serve.js'

export interface LfsUpload {
  /** Size that the client has announced. */
  readonly bytes: number
  readonly body: AsyncIterable<Uint8Array>
  readonly limits: LfsLimits
}

/**
 * Receives an object and gives it to the repository. The bytes are always received, because only
 * they prove that the client has the object. Throws `invalid` if they are not those of the name.
 */
export async function receiveLfsObject(
  { db, storage, digest }: Registry,
  object: LfsObjectName,
  { bytes, body, limits }: LfsUpload,
): Promise<void> {
  await refuseBeyondQuota(db, await lfsQuotaOf(db, object.repositoryId, limits), bytes)
  await withVerifiedFile({ storage, digest }, { oid: object.oid, bytes, body }, (file) =>
    storeBlob(storage, file, (blob) => addLfsObject(db, object, { blob, limits })),
  )
}

/** Bytes that claim to be those of an object. */
export interface ClaimedObject {
  readonly oid: string
  readonly bytes: number
  readonly body: AsyncIterable<Uint8Array>
}

/**
 * Receives an object for a repository that an import creates later, and returns the id of its blob.
 * Throws `invalid` if the bytes are not those of the name.
 */
export async function receiveImportedLfsObject(
  registry: Registry,
  claimed: ClaimedObject,
  importId: number,
): Promise<number> {
  return await withVerifiedFile(registry, claimed, (file) =>
    keepForImport(registry, file, importId),
  )
}

/** Receives an object into a file, which is removed after `use` unless that has moved it. */
async function withVerifiedFile<T>(
  { storage, digest }: Pick<Registry, 'storage' | 'digest'>,
  { oid, bytes, body }: ClaimedObject,
  use: (file: ReceivedFile) => Promise<T>,
): Promise<T> {
  const tooLarge = () => new Failure('invalid', `The object has more than ${bytes} bytes.`)
  const options = { folder: storage.incomingFolder, bytesMax: undefined, digest }
  const file = await receiveFile(limitBody(body, bytes, tooLarge), options)
  try {
    if (file.bytes !== bytes) {
      throw new Failure('invalid', `The object has ${file.bytes} bytes, not ${bytes}.`)
    }
    const { sha256 } = file.digests
    if (sha256 !== oid) {
      throw new Failure('invalid', `The SHA-256 of the object is ${sha256}, not ${oid}.`)
    }
    return await use(file)
  } finally {
    await file.discard()
  }
}

/** Returns the reply to a GET or HEAD for an object, which browsers save under the name. */
export async function serveLfsObject(
  registry: Registry,
  object: LfsObject,
  {
    request,
    name,
  }: { readonly request: Pick<Request, 'method' | 'headers'>; readonly name: string },
): Promise<Reply> {
  // The bytes of a name never change, so its ETag suffices.
  const file = { ...object, name, changedAtMs: undefined }
  return (await serveFile(registry, { file, request, options: {} })).reply
}
