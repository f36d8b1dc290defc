/** Import of the objects of Git LFS that the files of a cloned repository point to. */

import { RemoteError } from '../../cgi/transfer/remote.js'
import { isFailure } from '../../conf/failures.js'
import { receiveImportedLfsObject } from '../../registry/lfs-objects.js'
import {
  type ImportedLfs,
  type ImportedLfsObject,
  refuseBeyondOwner,
} from '../../sql/repositories/lfs-objects.js'
import type { LfsPointer } from '../actions/code/lfs-pointer.js'
import { listLfsPointers } from '../actions/code/lfs-pointers.js'
import type { Context } from '../request/context.js'
import {
  BATCH_OBJECTS_MAX,
  downloadOffered,
  isMissing,
  type LfsOffer,
  requestOffers,
} from './lfs-source.js'
import { type Source, withDeadline } from './source-calls.js'

export interface LfsImport {
  /** Address of the LFS server, and the credentials for its origin. */
  readonly url: URL
  readonly authorization: string | undefined
  /** Path of the cloned repository. */
  readonly path: string
  readonly importId: number
  readonly ownerId: number
  /** Aborts the import. */
  readonly signal: AbortSignal
}

/**
 * Fetches the objects of all commits and protects them while the import lasts. Objects that the
 * source does not have are left out. Throws RemoteError, and `insufficient_storage` if they exceed
 * the limit of the owner.
 */
export async function importLfs(context: Context, input: LfsImport): Promise<ImportedLfs> {
  const { settings, db, log } = context
  const { idleMs, timeoutMs } = settings.migrations
  const late = new AbortController()
  const signal = AbortSignal.any([input.signal, late.signal])
  const limits = { ownerBytesMax: settings.lfs.ownerBytesMax }
  const allowPrivate = settings.outbound.allow
  const source: Source = { ...input, signal, allowPrivate, idleMs, timeoutMs }
  return await withDeadline(late, timeoutMs, async () => {
    const pointers = await pointersIn(context, { ...input, signal })
    const bytes = pointers.reduce((sum, pointer) => sum + pointer.bytes, 0)
    await refuseBeyondOwner(db, { ownerId: input.ownerId, bytes, limits })
    const objects: ImportedLfsObject[] = []
    for (let at = 0; at < pointers.length; at += BATCH_OBJECTS_MAX) {
      const batch = pointers.slice(at, at + BATCH_OBJECTS_MAX)
      objects.push(...(await fetchBatch(context, { source, importId: input.importId }, batch)))
    }
    const missing = pointers.length - objects.length
    if (missing > 0) log.warn({ missing }, 'objects of git lfs are missing at the source')
    return { objects, limits }
  })
}

/** Returns the pointers, one for each object. Throws RemoteError if they exceed a limit. */
async function pointersIn(
  { git, settings }: Context,
  { path, signal }: Pick<LfsImport, 'path' | 'signal'>,
): Promise<readonly LfsPointer[]> {
  const { timeoutMs, itemsMax, packBytesMax } = settings.migrations
  const { objectBytesMax } = settings.lfs
  const found = new Map<string, LfsPointer>()
  let bytes = 0
  for await (const pointer of listLfsPointers(git, path, {
    commit: undefined,
    signal,
    timeoutMs,
  })) {
    if (found.has(pointer.oid)) continue
    found.set(pointer.oid, pointer)
    bytes += pointer.bytes
    if (pointer.bytes > objectBytesMax) {
      const limit = `the limit lfs.size_max is ${objectBytesMax}`
      const message = `the LFS object ${pointer.oid} has ${pointer.bytes} bytes, and ${limit}`
      throw new RemoteError('failed', message)
    }
    if (found.size > itemsMax) {
      throw new RemoteError('failed', `the source has more than ${itemsMax} LFS objects`)
    }
    if (bytes > packBytesMax) {
      const message = `the LFS objects of the source have more than ${packBytesMax} bytes`
      throw new RemoteError('failed', message)
    }
  }
  return [...found.values()]
}

interface Fetching {
  readonly source: Source
  readonly importId: number
}

/** Number of concurrent downloads, which shorten the waits for a distant source. */
const CONCURRENT = 4

/** Fetches objects of one batch; returns those that the source has. */
async function fetchBatch(
  context: Context,
  fetching: Fetching,
  pointers: readonly LfsPointer[],
): Promise<readonly ImportedLfsObject[]> {
  const offers = await requestOffers(fetching.source, pointers)
  const objects: ImportedLfsObject[] = []
  const failed = new AbortController()
  const signal = AbortSignal.any([fetching.source.signal, failed.signal])
  const bounded = { ...fetching, source: { ...fetching.source, signal } }
  const waiting = pointers.values()
  const work = async () => {
    for (const pointer of waiting) {
      const offer = offers.get(pointer.oid)
      const object = await fetchObject(context, bounded, { pointer, offer })
      if (object !== undefined) objects.push(object)
    }
  }
  const abort = (error: unknown) => {
    failed.abort(error)
    throw error
  }
  const workers = Array.from({ length: CONCURRENT }, () => work().catch(abort))
  // Waits for all of them, because nothing may refer to an import that has ended.
  await Promise.allSettled(workers)
  await Promise.all(workers)
  return objects
}

const ATTEMPTS_MAX = 3

interface Wanted {
  readonly pointer: LfsPointer
  readonly offer: LfsOffer | undefined
}

/**
 * Fetches an object, with a new offer if the connection broke or the offer has expired. Returns
 * undefined if the source does not have it.
 */
async function fetchObject(
  { registry }: Context,
  { source, importId }: Fetching,
  { pointer, offer }: Wanted,
): Promise<ImportedLfsObject | undefined> {
  const { oid, bytes } = pointer
  for (let attempt = 1, offered = offer; ; attempt += 1) {
    try {
      if (offered === undefined) {
        throw new RemoteError('failed', `the source does not answer for the LFS object ${oid}`)
      }
      if (isMissing(offered)) return undefined
      const blobId = await downloadOffered(source, offered, (body) =>
        receiveImportedLfsObject(registry, { oid, bytes, body }, importId).catch(asRemoteError),
      )
      return { oid, bytes, blobId }
    } catch (error) {
      source.signal.throwIfAborted()
      if (!(error instanceof RemoteError) || attempt === ATTEMPTS_MAX) throw error
    }
    offered = (await requestOffers(source, [pointer])).get(oid)
  }
}

function asRemoteError(error: unknown): never {
  if (!isFailure(error, 'invalid')) throw error
  const sentence = error.message.replace(/\.$/, '')
  throw new RemoteError('failed', `the source sent an invalid LFS object: ${sentence}`)
}
