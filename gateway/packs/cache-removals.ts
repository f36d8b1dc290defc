/**
 * Removed answers of repositories that were pruned, for the caches of other machines: a file in the
 * data folder names each such repository, and every gateway removes its own answers.
 */

import { mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { unlessMissing } from '../../conf/lib/disk.js'
import { removeAnswers } from './remove-answers.js'

/** Time for which a removal is known, for gateways that do not run. */
const KEPT_MS = 30 * 86_400_000

/** Notes that all gateways of the data folder must remove the answers of a repository. */
export async function noteRemoval(dataDir: string, repositoryPath: string): Promise<void> {
  const folder = folderOf(dataDir)
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, basename(repositoryPath)), `${Date.now()}\n`)
}

/** Follows the removals that other gateways have noted. */
export class CacheRemovals {
  readonly #dataDir: string
  readonly #cacheDir: string
  /** Time of the last removal of each repository that was followed. */
  readonly #followed = new Map<string, number>()

  constructor(dataDir: string, cacheDir: string) {
    this.#dataDir = dataDir
    this.#cacheDir = cacheDir
  }

  /** Removes the answers of the repositories that were noted since the last call. */
  async follow(): Promise<void> {
    const folder = folderOf(this.#dataDir)
    for (const name of (await unlessMissing(readdir(folder))) ?? []) {
      const path = join(folder, name)
      const notedAtMs = (await unlessMissing(stat(path)))?.mtimeMs
      if (notedAtMs === undefined || notedAtMs === this.#followed.get(name)) continue
      await removeAnswers(this.#cacheDir, name)
      this.#followed.set(name, notedAtMs)
      if (notedAtMs < Date.now() - KEPT_MS) await this.#forget(path, name)
    }
  }

  async #forget(path: string, name: string): Promise<void> {
    await rm(path, { force: true })
    this.#followed.delete(name)
  }
}

function folderOf(dataDir: string): string {
  return join(dataDir, 'cache-removals')
}
