/** Listing of the pointers of Git LFS in the commits of a repository. */

import { withObjects } from '../../../cgi/objects/objects.js'
import { listSmallFiles, type SmallFilesInput } from '../../../cgi/objects/small-files.js'
import type { Git } from '../../../cgi/process/git.js'
import { type LfsPointer, POINTER_BYTES_MAX, parseLfsPointer } from './lfs-pointer.js'

/** Yields the pointers of the repository at a path; several files can point to one object. */
export async function* listLfsPointers(
  git: Git,
  path: string,
  input: Omit<SmallFilesInput, 'bytesMax'>,
): AsyncGenerator<LfsPointer> {
  const files = listSmallFiles(git, path, { ...input, bytesMax: POINTER_BYTES_MAX })
  for await (const ids of files) {
    // The process that reads the files has a time limit, so each batch has its own.
    yield* await withObjects(git, path, async (objects) => {
      const found: LfsPointer[] = []
      for (const id of ids) {
        const content = (await objects.read(id))?.content?.toString('latin1') ?? ''
        const pointer = parseLfsPointer(content)
        if (pointer !== undefined) found.push(pointer)
      }
      return found
    })
  }
}
