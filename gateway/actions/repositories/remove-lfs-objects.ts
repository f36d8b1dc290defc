/** Removal of LFS objects to which no file of their repository points. */

import {
  deleteLfsObjects,
  type LfsPage,
  listOldLfsOids,
} from '../../../sql/repositories/lfs-removal.js'
import type { Repository } from '../../../sql/repositories/repositories.js'
import type { Context } from '../../request/context.js'
import { repositoryPathOf } from '../../request/repository-path.js'
import { listNamedLfsOids } from '../code/lfs-pointers.js'

/**
 * Minimum age of removed objects. Clients upload objects before they push the commits that point to
 * them, and a batch for an upload renews the objects that it reports as known.
 */
export const LFS_GRACE_MS = 86_400_000

/** Number of objects for which the files are read once. */
const PAGE_OBJECTS_MAX = 100_000

/**
 * Removes the objects to which no file of the repository points, and returns their number. Files of
 * unreachable commits count until they are pruned. The sweeper removes the bytes later, and waits
 * for backups.
 */
export async function removeLfsObjects(
  { settings, db, git }: Pick<Context, 'settings' | 'db' | 'git'>,
  repository: Repository,
  signal?: AbortSignal,
): Promise<number> {
  const path = repositoryPathOf({ settings }, repository)
  const page: LfsPage = {
    repositoryId: repository.id,
    beforeMs: Date.now() - LFS_GRACE_MS,
    limit: PAGE_OBJECTS_MAX,
  }
  let removed = 0
  for (let afterOid = ''; ; ) {
    const oids = await listOldLfsOids(db, { ...page, afterOid })
    const last = oids.at(-1)
    if (last === undefined) return removed
    const unnamed = new Set(oids)
    for await (const oid of listNamedLfsOids(git, path, { signal })) unnamed.delete(oid)
    removed += await deleteLfsObjects(db, page, [...unnamed])
    if (oids.length < PAGE_OBJECTS_MAX) return removed
    afterOid = last
  }
}
