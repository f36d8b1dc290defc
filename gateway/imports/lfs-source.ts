/** Client of the Git LFS server of a source: the batch API, and transfers of the kind "basic". */

import { type Static, Type } from 'typebox'
import { RemoteError } from '../../cgi/transfer/remote.js'
import type { LfsPointer } from '../actions/code/lfs-pointer.js'
import { checked, downloadFile, requestJson, type Source } from './source-calls.js'

const DOWNLOAD = Type.Object({
  href: Type.String(),
  header: Type.Optional(Type.Record(Type.String(), Type.String())),
})

const ANSWERED = Type.Object({
  oid: Type.String(),
  authenticated: Type.Optional(Type.Unknown()),
  actions: Type.Optional(Type.Object({ download: Type.Optional(DOWNLOAD) })),
  error: Type.Optional(Type.Object({ code: Type.Integer() })),
})

/** Maximum number of objects of one request: the default of git-lfs. */
export const BATCH_OBJECTS_MAX = 100

const BATCH = Type.Object({
  transfer: Type.Optional(Type.String()),
  objects: Type.Array(ANSWERED, { maxItems: BATCH_OBJECTS_MAX }),
})

/** Permission of the source to download an object, which expires soon. */
export type LfsOffer = Static<typeof ANSWERED>

const MEDIA_TYPE = 'application/vnd.git-lfs+json'

/**
 * Asks for the objects, of which there are at most 100, and returns the offers by oid. The `url` of
 * the source is the address of its LFS server. Throws RemoteError.
 */
export async function requestOffers(
  source: Source,
  pointers: readonly LfsPointer[],
): Promise<ReadonlyMap<string, LfsOffer>> {
  const question = {
    operation: 'download',
    transfers: ['basic'],
    hash_algo: 'sha256',
    objects: pointers.map(({ oid, bytes }) => ({ oid, size: bytes })),
  }
  const path = '/objects/batch'
  const url = new URL(`${source.url.href.replace(/\/+$/, '')}${path}`)
  const answer = await requestJson(source, url, {
    method: 'POST',
    headers: { Accept: MEDIA_TYPE, 'Content-Type': MEDIA_TYPE },
    body: Buffer.from(JSON.stringify(question)),
  })
  const { transfer = 'basic', objects } = checked(path, BATCH, answer)
  if (transfer === 'basic') return new Map(objects.map((offer) => [offer.oid, offer]))
  throw new RemoteError('failed', 'the source does not support the LFS transfer "basic"')
}

/** True if the source says that it does not have the object. */
export function isMissing({ error }: LfsOffer): boolean {
  return error?.code === 404 || error?.code === 410
}

/** Streams an offered object to `use`, and returns its result. Throws RemoteError. */
export async function downloadOffered<T>(
  source: Source,
  { oid, authenticated, actions, error }: LfsOffer,
  use: (body: AsyncIterable<Buffer>) => Promise<T>,
): Promise<T> {
  const download = actions?.download
  if (error !== undefined || download === undefined) {
    const reason = error === undefined ? 'no address' : `error ${error.code}`
    throw new RemoteError('failed', `the source sends ${reason} for the LFS object ${oid}`)
  }
  const own = headersOf(download.header ?? {})
  // A signed address must get no second credentials.
  const isSigned = authenticated === true || Object.keys(own).length > 0
  const headers = isSigned ? own : undefined
  return await downloadFile(source, { address: download.href, headers }, use)
}

/** Returns the headers that authorize a download, with lower-case names; others are not sent. */
function headersOf(header: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const kept = Object.entries(header)
    .map(([name, value]) => [name.toLowerCase(), value] as const)
    .filter(([name, value]) => NAME.test(name) && VALUE.test(value))
  return Object.fromEntries(kept.slice(0, HEADERS_MAX))
}

const NAME = /^(?:authorization|x-[a-z0-9-]{1,100})$/
const VALUE = /^[\x20-\x7e]{1,8192}$/
const HEADERS_MAX = 16
