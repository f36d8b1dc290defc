/** Listing of the pointers of Git LFS in the commits of a repository. */

import { withObjects } from '../../../cgi/objects/objects.js'
import {
  listSmallFiles,
  listStoredSmallFiles,
  type SmallFilesInput,
  type StoredFilesInput,
} from '../../../cgi/objects/small-files.js'
import type { Git } from '../../../cgi/process/git.js'
import { type LfsPointer, POINTER_BYTES_MAX, parseLfsPointer } from './lfs-pointer.js'

/** Yields the pointers of the repository at a path; several files can point to one object. */
export async function* listLfsPointers(
  git: Git,
  path: string,
  input: Omit<SmallFilesInput, 'bytesMax'>,
): AsyncGenerator<LfsPointer> {
  const files = listSmallFiles(git, path, { ...input, bytesMax: POINTER_BYTES_MAX })
  for await (const ids of files) yield* await readPointers(git, path, ids)
}

/** Yields the pointers among all files that the repository stores, also of unreachable commits. */
export async function* listStoredLfsPointers(
  git: Git,
  path: string,
  input: Omit<StoredFilesInput, 'bytesMax'>,
): AsyncGenerator<LfsPointer> {
  const files = listStoredSmallFiles(git, path, { ...input, bytesMax: POINTER_BYTES_MAX })
  for await (const ids of files) yield* await readPointers(git, path, ids)
}

/** Reads the pointers among files. The process has a time limit, so each batch has its own. */
async function readPointers(
  git: Git,
  path: string,
  ids: readonly string[],
): Promise<readonly LfsPointer[]> {
  return await withObjects(git, path, async (objects) => {
    const found: LfsPointer[] = []
    for (const id of ids) {
      const content = (await objects.read(id))?.content
      if (content === undefined) throw new Error(`the repository has lost the file ${id}`)
      const pointer = parseLfsPointer(content.toString('latin1'))
      if (pointer !== undefined) found.push(pointer)
    }
    return found
  })
}
