/** Walks folders that git may change at the same time: files that vanish are skipped. */

import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { unlessMissing } from '../../conf/lib/disk.js'

/** A file or folder that `walk` has found. */
export interface Found {
  readonly path: string
  readonly name: string
  readonly isFolder: boolean
}

/** Yields everything below a folder, each folder before its contents. Yields nothing for a file. */
export async function* walk(folder: string): AsyncGenerator<Found> {
  for (const entry of (await unlessMissing(readdir(folder, { withFileTypes: true }))) ?? []) {
    const path = join(folder, entry.name)
    const isFolder = entry.isDirectory()
    yield { path, name: entry.name, isFolder }
    if (isFolder) yield* walk(path)
  }
}
