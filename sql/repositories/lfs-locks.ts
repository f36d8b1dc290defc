/** Locks of files, which clients of Git LFS create and check before they push. */

import { checkText } from '../database/bindings.js'
import type { Database } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import { isUniqueViolation } from '../database/errors.js'

export interface LfsLock {
  readonly id: number
  readonly path: string
  readonly userId: number
  readonly userName: string
  readonly createdAtMs: number
}

export interface LfsLockQuery {
  readonly path?: string | undefined
  readonly id?: number | undefined
  /** Id of the last lock of the page before. */
  readonly afterId: number
  readonly limit: number
}

/** Locks a path. Returns the new lock, or the one that the path has already. */
export async function addLfsLock(
  db: Database,
  { repositoryId, path, userId }: { repositoryId: number; path: string; userId: number },
): Promise<{ readonly lock: LfsLock; readonly isNew: boolean }> {
  let isNew = true
  try {
    await db('lfs_locks').insert({
      repository_id: repositoryId,
      path: checkText(path),
      user_id: userId,
      created_at: Date.now(),
    })
  } catch (error) {
    if (!isUniqueViolation(error)) throw error
    isNew = false
  }
  const [lock] = await listLfsLocks(db, repositoryId, { path, afterId: 0, limit: 1 })
  if (lock === undefined) throw new Error('The lock was removed concurrently.')
  return { lock, isNew }
}

/** Returns locks of a repository, oldest first. */
export async function listLfsLocks(
  db: Database,
  repositoryId: number,
  { path, id, afterId, limit }: LfsLockQuery,
): Promise<readonly LfsLock[]> {
  const conditions = [
    ...(path === undefined ? [] : [['l.path = ?', checkText(path)] as const]),
    ...(id === undefined ? [] : [['l.id = ?', id] as const]),
  ]
  const rows = await selectRows<LockRow>(
    db,
    `select l.id, l.path, l.user_id, o.name, l.created_at from lfs_locks l
      join owners o on o.id = l.user_id
      where l.repository_id = ? and l.id > ?
      ${conditions.map(([condition]) => `and ${condition}`).join(' ')}
      order by l.id limit ?`,
    [repositoryId, afterId, ...conditions.map(([, value]) => value), limit],
  )
  return rows.map((row) => ({
    id: row.id,
    path: row.path,
    userId: row.user_id,
    userName: row.name,
    createdAtMs: row.created_at,
  }))
}

interface LockRow {
  readonly id: number
  readonly path: string
  readonly user_id: number
  readonly name: string
  readonly created_at: number
}

/** Removes a lock. */
export async function removeLfsLock(db: Database, lock: Pick<LfsLock, 'id'>): Promise<void> {
  await db('lfs_locks').where({ id: lock.id }).delete()
}
