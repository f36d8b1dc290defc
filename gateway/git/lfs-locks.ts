/** Locks of Git LFS, with which users announce that they change a file that cannot be merged. */

import { Failure, notFound } from '../../conf/failures.js'
import type { User } from '../../sql/accounts/users.js'
import {
  addLfsLock,
  type LfsLock,
  listLfsLocks,
  removeLfsLock,
} from '../../sql/repositories/lfs-locks.js'
import type { Grants } from '../auth/authorize.js'
import { readId } from '../auth/refusals.js'
import type { AnyRoute, Route } from '../request/route.js'
import { refuseArchived } from './archived.js'
import { authorizeMore, LFS_READ, LFS_WRITE, lfsPath } from './lfs-access.js'
import { LFS_SURFACE, lfsReply, readLfsMessage } from './lfs-surface.js'

/** Limit of the column. */
const PATH_CHARACTERS_MAX = 700
/** Maximum number of locks of a page, which is also the default. */
const PAGE_LOCKS_MAX = 100

const create: Route<'repository'> = {
  surface: LFS_SURFACE,
  method: 'POST',
  path: lfsPath('locks'),
  ...LFS_WRITE,
  async handle({ db }, { request, grant }) {
    refuseArchived(grant)
    const user = userOf(grant)
    const path = readPath((await readLfsMessage(request))['path'])
    const place = { repositoryId: grant.repository.id, path, userId: user.id }
    const { lock, isNew } = await addLfsLock(db, place)
    if (isNew) return lfsReply(201, { lock: lockObject(lock) })
    const message = `${lock.userName} has locked the file already.`
    return lfsReply(409, { lock: lockObject(lock), message })
  },
}

const list: Route<'repository'> = {
  surface: LFS_SURFACE,
  method: 'GET',
  path: lfsPath('locks'),
  ...LFS_READ,
  async handle({ db }, { request, grant }) {
    const query = new URLSearchParams(request.query)
    const [path, id] = [query.get('path') || undefined, query.get('id') || undefined]
    const page = pageOf({ cursor: query.get('cursor'), limit: query.get('limit') })
    const filter = { path, id: id === undefined ? undefined : (readId(id) ?? 0) }
    const found = await listLfsLocks(db, grant.repository.id, { ...page.query, ...filter })
    const { locks, next } = page.cut(found)
    return lfsReply(200, { locks: locks.map(lockObject), ...next })
  },
}

/** Lists all locks, which a client compares with the files of a push. */
const verify: Route<'repository'> = {
  surface: LFS_SURFACE,
  method: 'POST',
  path: lfsPath('locks/verify'),
  ...LFS_WRITE,
  async handle({ db }, { request, grant }) {
    const { cursor, limit } = await readLfsMessage(request)
    const page = pageOf({ cursor, limit })
    const { locks, next } = page.cut(await listLfsLocks(db, grant.repository.id, page.query))
    const [ours, theirs] = [true, false].map((isOwn) =>
      locks.filter(({ userId }) => (userId === grant.user?.id) === isOwn).map(lockObject),
    )
    return lfsReply(200, { ours, theirs, ...next })
  },
}

const unlock: Route<'repository'> = {
  surface: LFS_SURFACE,
  method: 'POST',
  path: lfsPath('locks/{id}/unlock'),
  ...LFS_WRITE,
  async handle(context, { request, grant, params }) {
    const { force } = await readLfsMessage(request)
    const user = userOf(grant)
    const query = { id: readId(params['id'] ?? '') ?? 0, afterId: 0, limit: 1 }
    const [lock] = await listLfsLocks(context.db, grant.repository.id, query)
    if (lock === undefined) throw notFound('There is no such lock.')
    if (lock.userId !== user.id) {
      if (force !== true) throw new Failure('forbidden', otherMessage(lock))
      await authorizeMore(context, grant, 'admin')
    }
    await removeLfsLock(context.db, lock)
    return lfsReply(200, { lock: lockObject(lock) })
  },
}

export const LOCK_ROUTES: readonly AnyRoute[] = [create, list, verify, unlock]

function otherMessage({ userName }: LfsLock): string {
  return `The lock is ${userName}'s; administrators of the repository remove it with --force.`
}

function userOf({ user }: Grants['repository']): User {
  if (user !== undefined) return user
  throw new Failure('forbidden', 'A deploy key cannot lock files, because it is no user.')
}

function lockObject({ id, path, userName, createdAtMs }: LfsLock) {
  const lockedAt = new Date(createdAtMs).toISOString()
  return { id: String(id), path, locked_at: lockedAt, owner: { name: userName } }
}

function readPath(path: unknown): string {
  if (typeof path !== 'string' || path === '' || path.includes('\0')) {
    throw new Failure('invalid', 'The path of a lock is a text that is not empty.')
  }
  if (path.length <= PATH_CHARACTERS_MAX) return path
  throw new Failure('invalid', `The path has more than ${PATH_CHARACTERS_MAX} characters.`)
}

/** Returns the query of a page, and a function that makes the page of one lock more. */
function pageOf({ cursor, limit }: { readonly cursor: unknown; readonly limit: unknown }) {
  const afterId = readId(String(cursor || 0))
  const wanted = readId(String(limit || PAGE_LOCKS_MAX))
  if (afterId === undefined || wanted === undefined) {
    throw new Failure('invalid', 'The cursor or the limit is not a number.')
  }
  const count = Math.min(wanted, PAGE_LOCKS_MAX)
  return {
    query: { afterId, limit: count + 1 },
    cut(found: readonly LfsLock[]) {
      const locks = found.slice(0, count)
      const last = locks.at(-1)
      const isMore = found.length > count && last !== undefined
      return { locks, next: isMore ? { next_cursor: String(last.id) } : {} }
    },
  }
}
