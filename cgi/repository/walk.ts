/** Walks a folder that git changes meanwhile: what vanishes under way is passed over. */

import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { unlessMissing } from '../../conf/disk.js'

/** One file or folder on the way. */
export interface Found {
  readonly path: string
  readonly name: string
  readonly isFolder: boolean
}

/** Everything below a folder, each folder before what it holds; below a file, nothing. */
export async function* walk(folder: string): AsyncGenerator<Found> {
  for (const entry of (await unlessMissing(readdir(folder, { withFileTypes: true }))) ?? []) {
    const path = join(folder, entry.name)
    const isFolder = entry.isDirectory()
    yield { path, name: entry.name, isFolder }
    if (isFolder) yield* walk(path)
  }
}
