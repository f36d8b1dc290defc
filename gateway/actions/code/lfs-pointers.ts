/** Listing of the pointers of Git LFS that a repository has. */

import {
  listSmallFiles,
  listStoredSmallFiles,
  type SmallFilesInput,
  type StoredFilesInput,
} from '../../../cgi/objects/small-files.js'
import { withObjects } from '../../../cgi/objects/with-objects.js'
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
    for (const content of await readFiles(git, path, ids)) {
      const pointer = parseLfsPointer(content)
      if (pointer !== undefined) yield pointer
    }
  }
}

/**
 * Yields each oid that a small file names, also of unreachable commits. The file may have any form,
 * because git-lfs also reads pointers with other line ends and those of its first versions, and an
 * object without a name is removed.
 */
export async function* listNamedLfsOids(
  git: Git,
  path: string,
  input: Omit<StoredFilesInput, 'bytesMax'>,
): AsyncGenerator<string> {
  const files = listStoredSmallFiles(git, path, { ...input, bytesMax: POINTER_BYTES_MAX })
  for await (const ids of files) {
    for (const content of await readFiles(git, path, ids)) yield* content.match(OIDS) ?? []
  }
}

const OIDS = /(?<=sha256:)[0-9a-f]{64}/g

/** Reads files as Latin-1. The process has a time limit, so each batch of files has its own. */
async function readFiles(
  git: Git,
  path: string,
  ids: readonly string[],
): Promise<readonly string[]> {
  return await withObjects(git, path, async (objects) => {
    const contents: string[] = []
    for (const id of ids) {
      const content = (await objects.read(id))?.content
      if (content === undefined) throw new Error(`the repository has lost the file ${id}`)
      contents.push(content.toString('latin1'))
    }
    return contents
  })
}
