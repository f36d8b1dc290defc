/** Where a repository lies below the data folder: by a random key, never by a name from outside. */

import { randomBytes } from 'node:crypto'
import { join } from 'node:path'

const STORAGE_KEY = /^[0-9a-f]{32}$/

/** The key of a new repository's folder: 32 hexadecimal digits that no other repository has. */
export function newStorageKey(): string {
  return randomBytes(16).toString('hex')
}

/** The bare repository of that key, spread over 256 folders. Throws when it is not a key. */
export function repositoryPath(dataDir: string, storage: string): string {
  if (!STORAGE_KEY.test(storage)) throw new Error('a storage key has 32 hexadecimal digits')
  return `${repositoryShardsFolder(dataDir)}/${storage.slice(0, 2)}/${storage}.git`
}

/** The folder of all repositories, which are in subfolders named by two hexadecimal digits. */
export function repositoryShardsFolder(dataDir: string): string {
  return join(dataDir, 'repositories')
}
