/** Walks a folder that git changes meanwhile: what vanishes under way is passed over. */

import { readdir } from 'node:fs/promises'
import { join } from 'node:path'

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

/** What an operation gives, or undefined where the file or folder is gone. */
export async function unlessMissing<T>(operation: Promise<T>): Promise<T | undefined> {
  try {
    return await operation
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    throw error
  }
}
