/** Marker of a bare repository: a file with its owner and name, because its path is random. */

import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { unlessMissing } from '../../conf/lib/disk.js'

/** File of gitrepository-layout(5) that gitweb and other programs show beside a repository. */
const FILE = 'description'

/** Returns the marker, such as `ada/library`; undefined if there is none. */
export async function readMarker(path: string): Promise<string | undefined> {
  const text = await unlessMissing(readFile(join(path, FILE), 'utf8'))
  return text?.replace(/\n$/, '')
}

/**
 * Writes the marker, if the repository exists. Overwrites the file in place and does not flush it:
 * a renamed file would change the repository's state (`repository-state.ts`), and all cached
 * answers would be lost. A marker that a crash damages is written again by the daily job.
 */
export async function writeMarker(path: string, marker: string): Promise<void> {
  await unlessMissing(writeFile(join(path, FILE), `${marker}\n`))
}
