/** Objects of Git LFS whose pointers are in commits that a pull request brings. */

import { copyNamedLfsObjects, hasLfsObjects } from '../../../sql/repositories/lfs-objects.js'
import type { Context } from '../../request/context.js'
import { listLfsPointers } from '../code/lfs-pointers.js'

export interface LfsBringing {
  /** Path and id of the repository that has the commit, which no ref of it reaches yet. */
  readonly path: string
  readonly repositoryId: number
  readonly commit: string
  /** Id of the repository from which the commit was copied. */
  readonly sourceId: number
}

/** Limits the time; the objects of further files are left out. */
const OBJECTS_MAX = 100_000

/** Gives the repository the objects that the commit and its history point to. */
export async function bringLfsObjects(
  { db, git }: Context,
  { path, repositoryId, commit, sourceId }: LfsBringing,
): Promise<void> {
  if (!(await hasLfsObjects(db, sourceId))) return
  const oids = new Set<string>()
  const input = { commit, objectsMax: OBJECTS_MAX }
  for await (const { oid } of listLfsPointers(git, path, input)) oids.add(oid)
  await copyNamedLfsObjects(db, { fromId: sourceId, toId: repositoryId, oids: [...oids] })
}
