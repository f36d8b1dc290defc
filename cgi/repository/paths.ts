/** Paths of repositories below the data folder: random keys, never names that a client chose. */

import { randomBytes } from 'node:crypto'
import { join } from 'node:path'

/** Key of a repository, or of the wiki of that repository. */
const STORAGE_KEY = /^[0-9a-f]{32}(?:\.wiki)?$/

/** Returns a random storage key for a new repository: 32 hexadecimal digits. */
export function newStorageKey(): string {
  return randomBytes(16).toString('hex')
}

/** Returns the path of a bare repository in one of 256 subfolders. Throws if the key is invalid. */
export function repositoryPath(dataDir: string, storage: string): string {
  if (!STORAGE_KEY.test(storage)) {
    throw new Error('a storage key must have 32 hexadecimal digits, with .wiki for a wiki')
  }
  return `${repositoryShardsFolder(dataDir)}/${storage.slice(0, 2)}/${storage}.git`
}

/** Returns the folder of all repositories. Its subfolders are named by two hexadecimal digits. */
export function repositoryShardsFolder(dataDir: string): string {
  return join(dataDir, 'repositories')
}
