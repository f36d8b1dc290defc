/** Reader of the objects of a repository for one piece of work. */

import type { Git } from '../process/git.js'
import { readReference } from '../refs/read-reference.js'
import { LooseObjects } from './loose-objects.js'
import { type ObjectReader, openObjects } from './objects.js'
import { openPacks } from './packed-objects.js'
import { ReaderOfRequest } from './reader-of-request.js'

/**
 * Runs `use` with a reader of the repository at `path`. Reads small objects and refs from the files
 * of the repository, and starts one process for the others, if there are any. With the variables of
 * a quarantine, the reader also finds the objects of a push that is not accepted yet.
 */
export async function withObjects<T>(
  git: Git,
  path: string,
  use: (objects: ObjectReader) => Promise<T>,
  quarantine?: Readonly<Record<string, string>>,
): Promise<T> {
  const reader = new ReaderOfRequest({
    openSeparate: () => openObjects(git, path, quarantine),
    openPacks: () => openPacks(path),
    openLoose: () => new LooseObjects(path),
    readReference: (name) => readReference(path, name),
  })
  return await use(reader).finally(() => reader.close())
}
