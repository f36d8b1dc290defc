/** Routes of Git LFS: batches, the bytes of objects, and locks. */

import { Failure, notFound } from '../../conf/failures.js'
import { receiveLfsObject, serveLfsObject } from '../../registry/lfs-objects.js'
import { findLfsObject, listLfsSizes } from '../../sql/repositories/lfs-objects.js'
import type { AnyRoute, Route } from '../request/route.js'
import { refuseArchived } from './archived.js'
import { LFS_READ, LFS_WRITE, lfsPath } from './lfs-access.js'
import { batchRoute, readOid, readPointer, readSize, tooLargeMessage } from './lfs-batch.js'
import { LOCK_ROUTES } from './lfs-locks.js'
import { LFS_SURFACE, lfsReply, readLfsMessage } from './lfs-surface.js'

const download: Route<'repository'> = {
  surface: LFS_SURFACE,
  method: 'GET',
  path: lfsPath('objects/{oid}'),
  ...LFS_READ,
  async handle({ db, registry }, { request, grant, params }) {
    const oid = readOid(params['oid'])
    const object = await findLfsObject(db, { repositoryId: grant.repository.id, oid })
    if (object === undefined) throw notFound('The repository does not have this object.')
    return { ...(await serveLfsObject(registry, object, { request, name: oid })), isRoutine: true }
  },
}

const upload: Route<'repository'> = {
  surface: LFS_SURFACE,
  method: 'PUT',
  path: lfsPath('objects/{oid}/{size}'),
  ...LFS_WRITE,
  async handle({ registry, settings }, { request, grant, params }) {
    refuseArchived(grant)
    const oid = readOid(params['oid'])
    const bytes = readSize(/^\d{1,16}$/.test(params['size'] ?? '') ? Number(params['size']) : '')
    const { objectBytesMax, ownerBytesMax } = settings.lfs
    if (bytes > objectBytesMax) {
      throw new Failure('payload_too_large', tooLargeMessage(objectBytesMax))
    }
    const object = { repositoryId: grant.repository.id, oid }
    const { body } = request
    await receiveLfsObject(registry, object, { bytes, body, limits: { ownerBytesMax } })
    return { status: 200, isRoutine: true }
  },
}

/** Confirms an upload. Batches do not ask for it, because uploads are verified themselves. */
const verify: Route<'repository'> = {
  surface: LFS_SURFACE,
  method: 'POST',
  path: lfsPath('verify'),
  ...LFS_WRITE,
  async handle({ db }, { request, grant }) {
    const { oid, size } = readPointer(await readLfsMessage(request))
    const known = (await listLfsSizes(db, grant.repository.id, [oid])).get(oid)
    if (known === undefined) throw notFound('The repository does not have this object.')
    if (known !== size) throw new Failure('invalid', `The object has ${known} bytes, not ${size}.`)
    return lfsReply(200, { oid, size })
  },
}

export const LFS_ROUTES: readonly AnyRoute[] = [
  batchRoute,
  download,
  upload,
  verify,
  ...LOCK_ROUTES,
]
