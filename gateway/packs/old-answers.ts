/** Removal of the least recently used answers from the folder of the pack cache. */

import { lstat, readdir, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { unlessMissing } from '../../conf/lib/disk.js'
import { checksumsPath, removePack } from './pack-file.js'

/** Time since the last write after which an unfinished file is a leftover of a crash. */
const PART_AGE_MS = 3_600_000

export interface Removal {
  /** Maximum bytes of all answers. */
  readonly diskBytesMax: number
  /** Bytes to free below the present size. */
  readonly missingBytes: number
  /** Time since its last use for which an answer is not removed. */
  readonly graceMs: number
  /** Path of the answer that was stored just now, if there is one. */
  readonly newestPath: string | undefined
}

/**
 * Removes leftovers of crashes, and the least recently used answers above a limit. Lists the folder
 * a second time to remove answers: it may have a hundred thousand, whose paths would be held.
 */
export async function removeOldAnswers(folder: string, removal: Removal): Promise<void> {
  const { graceMs, newestPath } = removal
  const now = Date.now()
  const answers: Use[] = []
  for await (const file of listFiles(folder)) {
    const { path, bytes, usedAtMs, writtenAtMs } = file
    if (!isAnswer(file)) {
      if (writtenAtMs < now - PART_AGE_MS) await rm(path, { force: true })
    } else if (path === newestPath) {
      // The kernel's clock for new files is coarser than ours, so the newest file might seem older
      // than one that was just used.
      answers.push([Number.POSITIVE_INFINITY, bytes])
    } else answers.push([usedAtMs, bytes])
  }
  const allBytes = answers.reduce((sum, [, bytes]) => sum + bytes, 0)
  const bytesMax = Math.min(removal.diskBytesMax, allBytes - removal.missingBytes)
  const untilMs = endOfRemoval(answers, { bytesMax, allBytes })
  if (untilMs === undefined) return
  for await (const file of listFiles(folder)) {
    const { path, usedAtMs } = file
    const isInUse = path === newestPath || Math.abs(now - usedAtMs) < graceMs
    if (!isAnswer(file) || isInUse || usedAtMs > untilMs) continue
    await removePack(path).catch(() => {})
  }
}

/** Time of the last use in ms, and bytes, of an answer. */
type Use = readonly [usedAtMs: number, bytes: number]

/** Returns the time up to which answers were last used that must go; undefined if none must. */
function endOfRemoval(
  answers: Use[],
  { bytesMax, allBytes }: { readonly bytesMax: number; readonly allBytes: number },
): number | undefined {
  let leftBytes = allBytes
  let untilMs: number | undefined
  for (const [usedAtMs, bytes] of answers.sort(([one], [other]) => one - other)) {
    if (leftBytes <= bytesMax) break
    untilMs = usedAtMs
    leftBytes -= bytes
  }
  return untilMs
}

interface KeptFile {
  readonly path: string
  readonly bytes: number
  readonly usedAtMs: number
  readonly writtenAtMs: number
}

/** True for an answer, false for an unfinished file. */
function isAnswer({ path }: KeptFile): boolean {
  return !basename(path).includes('.')
}

/** Lists the files, without those of checksums beside an answer, which are removed with it. */
async function* listFiles(folder: string): AsyncGenerator<KeptFile> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    const names = entry.isDirectory() ? withoutChecksums(await readdir(path)) : ['']
    for (const name of names) {
      const file = await statFile(join(path, name))
      if (file !== undefined) yield file
    }
  }
}

function withoutChecksums(names: readonly string[]): readonly string[] {
  const checksums = new Set(names.map(checksumsPath))
  return names.filter((name) => !checksums.has(name))
}

async function statFile(path: string): Promise<KeptFile | undefined> {
  const stats = await unlessMissing(lstat(path))
  // Leases are symbolic links.
  if (stats === undefined || !(stats.isFile() || stats.isSymbolicLink())) return undefined
  return { path, bytes: stats.size, usedAtMs: stats.atimeMs, writtenAtMs: stats.mtimeMs }
}
