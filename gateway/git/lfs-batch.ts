/** The batch API of Git LFS: where a client downloads or uploads each object. */

import { Failure } from '../../conf/failures.js'
import { listLfsSizes } from '../../sql/repositories/lfs-objects.js'
import { lfsQuotaOf, refuseBeyondQuota } from '../../sql/repositories/lfs-quota.js'
import { renewLfsObjects } from '../../sql/repositories/lfs-removal.js'
import { type LfsHeader, lfsHeaderFor } from '../auth/lfs-ticket.js'
import { lfsAddress } from '../request/lfs-address.js'
import type { Route } from '../request/route.js'
import { authorizeMore, LFS_READ, lfsPath } from './lfs-access.js'
import { isMessage, LFS_SURFACE, type LfsMessage, lfsReply, readLfsMessage } from './lfs-surface.js'

/** An object, as the client's pointer describes it. */
export interface BatchObject {
  readonly oid: string
  readonly size: number
}

interface Batch {
  readonly operation: 'download' | 'upload'
  readonly objects: readonly BatchObject[]
}

/** Ten times as many as clients ask for by default. */
const OBJECTS_MAX = 1_000

export const batchRoute: Route<'repository'> = {
  surface: LFS_SURFACE,
  method: 'POST',
  path: lfsPath('objects/batch'),
  ...LFS_READ,
  async handle(context, { request, grant }) {
    const { repository, who } = grant
    const { operation, objects } = readBatch(await readLfsMessage(request))
    if (operation === 'upload') await authorizeMore(context, grant, 'write')
    const oids = objects.map(({ oid }) => oid)
    const find = operation === 'upload' ? renewLfsObjects : listLfsSizes
    const sizes = await find(context.db, repository.id, oids)
    if (operation === 'upload') {
      const lacking = objects.filter(({ oid }) => !sizes.has(oid))
      const bytes = lacking.reduce((sum, { size }) => sum + size, 0)
      const quota = await lfsQuotaOf(context.db, repository.id, context.settings.lfs)
      await refuseBeyondQuota(context.db, quota, bytes)
    }
    const use = { repositoryId: repository.id, operation, who }
    const header = await lfsHeaderFor(context, request, use)
    const address = lfsAddress(context, repository)
    const bytesMax = context.settings.lfs.objectBytesMax
    const answered = objects.map((object) => {
      const refusal = refusalOf(object, { operation, known: sizes.get(object.oid), bytesMax })
      if (refusal !== undefined) return { ...object, error: refusal }
      if (operation === 'upload' && sizes.has(object.oid)) return object
      return { ...object, ...actionOf(object, { operation, address, header }) }
    })
    const reply = { transfer: 'basic', hash_algo: 'sha256', objects: answered }
    return { ...lfsReply(200, reply), isRoutine: true }
  },
}

interface Question {
  readonly operation: Batch['operation']
  /** Size of the object of that name which the repository has. */
  readonly known: number | undefined
  readonly bytesMax: number
}

/** Returns the error of an object; undefined if it can be transferred. */
function refusalOf({ oid, size }: BatchObject, { operation, known, bytesMax }: Question) {
  if (known !== undefined && known !== size) {
    return { code: 422, message: `The object ${oid} has ${known} bytes, not ${size}.` }
  }
  if (operation === 'download') {
    return known === undefined
      ? { code: 404, message: 'The repository does not have this object.' }
      : undefined
  }
  return size > bytesMax ? { code: 422, message: tooLargeMessage(bytesMax) } : undefined
}

/** Returns the message for an object that exceeds the limit. */
export function tooLargeMessage(bytesMax: number): string {
  return `An LFS object of this server has at most ${bytesMax} bytes.`
}

interface ActionOptions {
  readonly operation: Batch['operation']
  readonly address: string
  /** Absent for an anonymous client. */
  readonly header: LfsHeader | undefined
}

function actionOf({ oid, size }: BatchObject, { operation, address, header }: ActionOptions) {
  const place = `${address}/objects/${oid}`
  const href = operation === 'upload' ? `${place}/${size}` : place
  if (header === undefined) return { actions: { [operation]: { href } } }
  const action = {
    href,
    header: { Authorization: header.value },
    expires_in: Math.floor((header.expiresAtMs - Date.now()) / 1_000),
  }
  return { authenticated: true, actions: { [operation]: action } }
}

function readBatch({ operation, objects, transfers, hash_algo }: LfsMessage): Batch {
  if (operation !== 'download' && operation !== 'upload') {
    throw new Failure('invalid', 'The operation is neither "download" nor "upload".')
  }
  if (hash_algo !== undefined && hash_algo !== 'sha256') {
    throw new Failure('conflict', 'This server names LFS objects by "sha256" only.')
  }
  if (transfers !== undefined && !(Array.isArray(transfers) && transfers.includes('basic'))) {
    throw new Failure('invalid', 'This server supports only the transfer "basic".')
  }
  if (!Array.isArray(objects)) throw new Failure('invalid', 'The field "objects" is not a list.')
  if (objects.length > OBJECTS_MAX) {
    throw new Failure('payload_too_large', `A batch has at most ${OBJECTS_MAX} objects.`)
  }
  return { operation, objects: objects.map(readPointer) }
}

/** Reads an object of a message. Throws `invalid`. */
export function readPointer(value: unknown): BatchObject {
  const { oid, size } = isMessage(value) ? value : {}
  return { oid: readOid(oid), size: readSize(size) }
}

/** Reads the name of an object. Throws `invalid`. */
export function readOid(oid: unknown): string {
  if (typeof oid === 'string' && /^[0-9a-f]{64}$/.test(oid)) return oid
  throw new Failure('invalid', 'An oid is not a SHA-256 in 64 lower-case hexadecimal digits.')
}

/** Reads the size of an object. Throws `invalid`. */
export function readSize(size: unknown): number {
  if (typeof size === 'number' && Number.isSafeInteger(size) && size >= 0) return size
  throw new Failure('invalid', 'The size of an object is not a whole number of bytes.')
}
