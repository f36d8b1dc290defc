/** Objects of Git LFS whose pointers are in commits that a pull request brings. */

import { listNewFiles } from '../../../cgi/objects/new-files.js'
import { withObjects } from '../../../cgi/objects/objects.js'
import { copyNamedLfsObjects, hasLfsObjects } from '../../../sql/repositories/lfs-objects.js'
import type { Context } from '../../request/context.js'
import { POINTER_BYTES_MAX, parseLfsPointer } from '../code/lfs-pointer.js'

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
  const input = { commit, bytesMax: POINTER_BYTES_MAX, objectsMax: OBJECTS_MAX }
  const files = await listNewFiles(git, path, input)
  const oids = new Set<string>()
  await withObjects(git, path, async (objects) => {
    for (const id of files) {
      const content = (await objects.read(id))?.content?.toString('latin1') ?? ''
      const pointer = parseLfsPointer(content)
      if (pointer !== undefined) oids.add(pointer.oid)
    }
  })
  await copyNamedLfsObjects(db, { fromId: sourceId, toId: repositoryId, oids: [...oids] })
}
