/** Queue of a run: its processes take one test file after the other, until all are taken. */

import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { claimFile } from '../helpers/claim-file.js'

/** Environment variable with the folder of the queue. */
export const QUEUE_VARIABLE = 'TEST_QUEUE_FOLDER'

/** List of the test files, in the folder of the queue. */
const LIST = 'files.json'
/** Folder with a file for each taken test file: its number, and the id of the process. */
const TAKEN = 'taken'

/** Creates the folder of a queue. */
export async function writeQueue(folder: string, files: readonly string[]): Promise<void> {
  await mkdir(join(folder, TAKEN), { recursive: true })
  await writeFile(join(folder, LIST), JSON.stringify(files))
}

/** End of the list from which a process takes its files. */
export type QueueEnd = 'first' | 'last'

/** Yields the files that no other process has taken; each is taken when it is yielded. */
export async function* takeFiles(folder: string, end: QueueEnd): AsyncGenerator<string> {
  const files = [...(await readList(folder)).entries()]
  for (const [at, file] of end === 'first' ? files : files.reverse()) {
    if (await claimFile(join(folder, TAKEN, String(at)), String(process.pid))) yield file
  }
}

/** Returns true if there are files that no process has taken. */
export async function hasFiles(folder: string): Promise<boolean> {
  const taken = await readdir(join(folder, TAKEN))
  return taken.length < (await readList(folder)).length
}

/** Returns the file that a process has taken last. */
export async function lastFileOf(folder: string, pid: number): Promise<string | undefined> {
  let last: { readonly at: number; readonly takenAtNs: bigint } | undefined
  for (const name of await readdir(join(folder, TAKEN))) {
    const path = join(folder, TAKEN, name)
    if ((await readFile(path, 'utf8')) !== String(pid)) continue
    const { mtimeNs: takenAtNs } = await stat(path, { bigint: true })
    if (last === undefined || takenAtNs > last.takenAtNs) last = { at: Number(name), takenAtNs }
  }
  return last && (await readList(folder))[last.at]
}

async function readList(folder: string): Promise<readonly string[]> {
  return JSON.parse(await readFile(join(folder, LIST), 'utf8')) as readonly string[]
}
