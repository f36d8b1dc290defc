/** Import of the objects of Git LFS that the files of a clone or a mirror point to. */

import { RemoteError } from '../../cgi/transfer/remote.js'
import { isFailure } from '../../conf/failures.js'
import { receiveImportedLfsObject, receiveLfsObject } from '../../registry/lfs-objects.js'
import type { Database } from '../../sql/database/database.js'
import {
  type ImportedLfs,
  type ImportedLfsObject,
  listLfsSizes,
} from '../../sql/repositories/lfs-objects.js'
import { lfsQuotaOf, lfsQuotaOfOwner, refuseBeyondQuota } from '../../sql/repositories/lfs-quota.js'
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

type LfsContext = Pick<Context, 'settings' | 'db' | 'log' | 'git' | 'registry'>

interface LfsSource {
  /** Address of the LFS server, and the credentials for its origin. */
  readonly url: URL
  readonly authorization: string | undefined
  /** Path of the repository that has the pointers. */
  readonly path: string
  /** Aborts the transfer. */
  readonly signal: AbortSignal
}

export interface LfsImport extends LfsSource {
  readonly importId: number
  readonly ownerId: number
}

/**
 * Fetches the objects of all commits and protects them while the import lasts. Objects that the
 * source does not have are left out. Throws RemoteError, and `insufficient_storage` if they exceed
 * the quota of the owner.
 */
export async function importLfs(context: LfsContext, input: LfsImport): Promise<ImportedLfs> {
  const { settings, db, registry } = context
  const { importId, ownerId } = input
  const limits = { ownerBytesMax: settings.lfs.ownerBytesMax }
  const objects = await fetchLfs<ImportedLfsObject>(context, input, {
    async choose(pointers) {
      const quota = await lfsQuotaOfOwner(db, ownerId, limits)
      await refuseBeyondQuota(db, quota, totalBytes(pointers))
      return pointers
    },
    async keep({ oid, bytes }, body) {
      const blobId = await receiveImportedLfsObject(registry, { oid, bytes, body }, importId)
      return { oid, bytes, blobId }
    },
  })
  return { objects, limits }
}

export interface LfsUpdate extends LfsSource {
  readonly repositoryId: number
}

/**
 * Fetches the objects that a mirror lacks. Objects that the source does not have are left out.
 * Throws RemoteError, also if the objects exceed the quota of the owner.
 */
export async function updateLfs(context: LfsContext, input: LfsUpdate): Promise<void> {
  const { settings, db, registry } = context
  const { repositoryId } = input
  const limits = { ownerBytesMax: settings.lfs.ownerBytesMax }
  await fetchLfs(context, input, {
    async choose(pointers) {
      const lacking = await withoutKnown(db, repositoryId, pointers)
      const quota = await lfsQuotaOf(db, repositoryId, limits)
      await refuseBeyondQuota(db, quota, totalBytes(lacking)).catch(asQuotaError)
      return lacking
    },
    async keep({ oid, bytes }, body) {
      await receiveLfsObject(registry, { repositoryId, oid }, { bytes, body, limits })
      return oid
    },
  })
}

/** Converts the error of the quota, which an update does not repeat immediately. */
function asQuotaError(error: unknown): never {
  if (!isFailure(error, 'insufficient_storage')) throw error
  throw new RemoteError('failed', error.message)
}

/** Number of oids in one statement. */
const KNOWN_BATCH = 500

async function withoutKnown(
  db: Database,
  repositoryId: number,
  pointers: readonly LfsPointer[],
): Promise<readonly LfsPointer[]> {
  const lacking: LfsPointer[] = []
  for (let at = 0; at < pointers.length; at += KNOWN_BATCH) {
    const batch = pointers.slice(at, at + KNOWN_BATCH)
    const known = await listLfsSizes(
      db,
      repositoryId,
      batch.map(({ oid }) => oid),
    )
    lacking.push(...batch.filter(({ oid }) => !known.has(oid)))
  }
  return lacking
}

function totalBytes(pointers: readonly LfsPointer[]): number {
  return pointers.reduce((sum, { bytes }) => sum + bytes, 0)
}

/** Choice of the objects to fetch, and the destination of their bytes. */
interface LfsDestination<T> {
  readonly choose: (pointers: readonly LfsPointer[]) => Promise<readonly LfsPointer[]>
  readonly keep: (pointer: LfsPointer, body: AsyncIterable<Buffer>) => Promise<T>
}

/** Fetches the chosen objects of all commits; returns the results for those that the source has. */
async function fetchLfs<T>(
  context: LfsContext,
  input: LfsSource,
  { choose, keep }: LfsDestination<T>,
): Promise<readonly T[]> {
  const { settings, log } = context
  const { idleMs, timeoutMs } = settings.migrations
  const late = new AbortController()
  const signal = AbortSignal.any([input.signal, late.signal])
  const allowPrivate = settings.outbound.allow
  const source: Source = { ...input, signal, allowPrivate, idleMs, timeoutMs }
  return await withDeadline(late, timeoutMs, async () => {
    const pointers = await choose(await pointersIn(context, { ...input, signal }))
    const objects: T[] = []
    for (let at = 0; at < pointers.length; at += BATCH_OBJECTS_MAX) {
      const batch = pointers.slice(at, at + BATCH_OBJECTS_MAX)
      objects.push(...(await fetchBatch({ source, keep }, batch)))
    }
    const missing = pointers.length - objects.length
    if (missing > 0) log.warn({ missing }, 'objects of git lfs are missing at the source')
    return objects
  })
}

/** Returns the pointers, one for each object. Throws RemoteError if they exceed a limit. */
async function pointersIn(
  { git, settings }: Pick<LfsContext, 'git' | 'settings'>,
  { path, signal }: Pick<LfsSource, 'path' | 'signal'>,
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

interface Fetching<T> {
  readonly source: Source
  readonly keep: LfsDestination<T>['keep']
}

/** Number of concurrent downloads, which shorten the waits for a distant source. */
const CONCURRENT = 4

/** Fetches objects of one batch; returns the results for those that the source has. */
async function fetchBatch<T>(
  fetching: Fetching<T>,
  pointers: readonly LfsPointer[],
): Promise<readonly T[]> {
  const offers = await requestOffers(fetching.source, pointers)
  const objects: T[] = []
  const failed = new AbortController()
  const signal = AbortSignal.any([fetching.source.signal, failed.signal])
  const bounded = { ...fetching, source: { ...fetching.source, signal } }
  const waiting = pointers.values()
  const work = async () => {
    for (const pointer of waiting) {
      const offer = offers.get(pointer.oid)
      const object = await fetchObject(bounded, { pointer, offer })
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
async function fetchObject<T>(
  { source, keep }: Fetching<T>,
  { pointer, offer }: Wanted,
): Promise<T | undefined> {
  const { oid } = pointer
  for (let attempt = 1, offered = offer; ; attempt += 1) {
    try {
      if (offered === undefined) {
        throw new RemoteError('failed', `the source does not answer for the LFS object ${oid}`)
      }
      if (isMissing(offered)) return undefined
      return await downloadOffered(source, offered, (body) =>
        keep(pointer, body).catch(asRemoteError),
      )
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
