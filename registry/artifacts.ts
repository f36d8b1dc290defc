/** Artifacts of workflow runs: received in parts, which are joined to files, and served. */

import type { Reply, Request } from '../conf/http.js'
import {
  type ArtifactPart,
  addPart,
  freeBytes,
  type NewFile,
  type NewPart,
  placeFile,
  tooLarge,
  type UploadLimits,
} from '../sql/runs/artifact-parts.js'
import type { ArtifactFile } from '../sql/runs/artifacts.js'
import { storeBlob } from './keep-blob.js'
import { limitBody } from './limited-body.js'
import { type ReceivedFile, receiveFile } from './received-file.js'
import type { Registry } from './registry.js'
import { serveFile } from './serve.js'
import type { BlobStorage } from './storage/storage.js'

type Blobs = Pick<Registry, 'db' | 'storage' | 'digest'>

export interface PartUpload {
  readonly body: AsyncIterable<Uint8Array>
  readonly limits: UploadLimits
  /** Throws for a part that the client has described otherwise. */
  readonly check?: (file: Pick<ReceivedFile, 'bytes' | 'digests'>) => void
}

/** Receives a part and stores it. Throws `payload_too_large` as soon as it exceeds a limit. */
export async function receivePart(
  { db, storage, digest }: Blobs,
  part: NewPart,
  { body, limits, check = () => {} }: PartUpload,
): Promise<void> {
  const bytesMax = await freeBytes(db, part.artifact, limits)
  const limited = limitBody(body, bytesMax, () => tooLarge(limits))
  const folder = storage.incomingFolder
  const file = await receiveFile(limited, { folder, bytesMax: undefined, digest })
  try {
    check(file)
    await storeBlob(storage, file, (blob) => addPart(db, part, { blob, limits }))
  } finally {
    await file.discard()
  }
}

/**
 * Joins parts to a file of an artifact, in the given order. One worker joins one file at a time,
 * because it reads and writes all bytes once more. A single part is the file itself.
 */
export async function joinParts(
  { db, storage, digest }: Blobs,
  of: NewFile,
  { parts, signal }: { readonly parts: readonly ArtifactPart[]; readonly signal: AbortSignal },
): Promise<void> {
  const [only] = parts
  if (only !== undefined && parts.length === 1) {
    const { blobKey: key, bytes, digests } = only
    await placeFile(db, of, { key, bytes, digests })
    return
  }
  await inTurn(storage, async () => {
    signal.throwIfAborted()
    const options = { folder: storage.incomingFolder, bytesMax: undefined, digest }
    const file = await receiveFile(readParts(storage, parts), options)
    try {
      await storeBlob(storage, file, (blob) => placeFile(db, of, blob))
    } finally {
      await file.discard()
    }
  })
}

async function* readParts(
  storage: BlobStorage,
  parts: readonly ArtifactPart[],
): AsyncGenerator<Uint8Array> {
  for (const { blobKey, bytes } of parts)
    yield* await storage.open(blobKey, { start: 0, end: bytes })
}

const lastTurns = new WeakMap<BlobStorage, Promise<void>>()

/** Runs the work when all earlier work with the storage has ended. */
async function inTurn(storage: BlobStorage, work: () => Promise<void>): Promise<void> {
  const earlier = lastTurns.get(storage) ?? Promise.resolve()
  const turn = earlier.then(work, work)
  lastTurns.set(storage, turn)
  await turn
}

/**
 * Returns the reply to a GET or HEAD for a file, which browsers save under the name. A file that
 * the client has compressed is not served by the storage, which does not know that.
 */
export async function serveArtifact(
  registry: Registry,
  file: ArtifactFile,
  { request, name, contentType = 'application/octet-stream' }: ServeArtifactOptions,
): Promise<Reply> {
  const served = { ...file, name, changedAtMs: undefined }
  const headers = file.isGzip ? ([['Content-Encoding', 'gzip']] as const) : []
  const { bodies, storage } = registry
  const here = { bodies, storage: { ...storage, directUrl: async () => undefined } }
  const options = { contentType, headers }
  const from = file.isGzip ? here : registry
  return (await serveFile(from, { file: served, request, options })).reply
}

interface ServeArtifactOptions {
  readonly request: Pick<Request, 'method' | 'headers'>
  readonly name: string
  readonly contentType?: string
}
