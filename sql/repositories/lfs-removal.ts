/** Age of LFS objects, and the removal of old ones. */

import type { Database } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import { LFS_BATCH, listLfsSizes } from './lfs-objects.js'

/** Objects of a repository that are older than a time. */
export interface LfsPage {
  readonly repositoryId: number
  readonly beforeMs: number
  readonly limit: number
}

/** Lists up to `limit` oids above `afterOid`, ordered. */
export async function listOldLfsOids(
  db: Database,
  { repositoryId, beforeMs, limit, afterOid }: LfsPage & { readonly afterOid: string },
): Promise<readonly string[]> {
  const rows = await selectRows<{ oid: string }>(
    db,
    `select l.oid from lfs_objects l
      where l.repository_id = ? and l.created_at < ? and l.oid > ? order by l.oid limit ?`,
    [repositoryId, beforeMs, afterOid, limit],
  )
  return rows.map(({ oid }) => oid)
}

/** Deletes the named objects, unless they were renewed meanwhile. Returns their number. */
export async function deleteLfsObjects(
  db: Database,
  { repositoryId, beforeMs }: Omit<LfsPage, 'limit'>,
  oids: readonly string[],
): Promise<number> {
  let deleted = 0
  for (let at = 0; at < oids.length; at += LFS_BATCH) {
    deleted += await db('lfs_objects')
      .where({ repository_id: repositoryId })
      .whereIn('oid', oids.slice(at, at + LFS_BATCH))
      .where('created_at', '<', beforeMs)
      .delete()
  }
  return deleted
}

/** Age below which an object is not renewed, so that few batches write. */
const RENEWED_AFTER_MS = 3_600_000

/**
 * Returns the sizes of the objects that the repository has, by oid, and renews their age, because
 * clients do not upload reported objects. The renewal comes first, so that an object which was
 * removed before it is not reported.
 */
export async function renewLfsObjects(
  db: Database,
  repositoryId: number,
  oids: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const nowMs = Date.now()
  for (let at = 0; at < oids.length; at += LFS_BATCH) {
    await db('lfs_objects')
      .where({ repository_id: repositoryId })
      .whereIn('oid', oids.slice(at, at + LFS_BATCH))
      .where('created_at', '<', nowMs - RENEWED_AFTER_MS)
      .update({ created_at: nowMs })
  }
  return await listLfsSizes(db, repositoryId, oids)
}
