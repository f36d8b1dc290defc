/** Checks if a repository has objects, without starting a process. */

import { closeSync, existsSync, openSync, readdirSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { unlessMissingSync } from '../../conf/lib/disk.js'

/** Maximum number of packs to search; with more, in a repository without upkeep, git is faster. */
const PACKS_MAX = 32

/**
 * Returns true if all objects are in the repository's own folder. Returns false also for objects
 * that only git finds: in alternates, if there are more than 32 packs, or in an index of version 1.
 */
export function hasOwnObjects(repositoryPath: string, oids: readonly string[]): boolean {
  const objects = join(repositoryPath, 'objects')
  const folder = join(objects, 'pack')
  const packs = readdirSync(folder).filter((name) => PACK_INDEX.test(name))
  let missing = oids
  for (const name of packs.length > PACKS_MAX ? [] : packs) {
    if (missing.length === 0) return true
    // A repack deletes packs at any moment. Git is asked about objects that it moves meanwhile.
    missing = unlessMissingSync(() => withoutIndexed(join(folder, name), missing)) ?? missing
  }
  return missing.every((oid) => existsSync(join(objects, oid.slice(0, 2), oid.slice(2))))
}

/** Excludes the temporary indexes that a repack writes (`.tmp-PID-pack-*.idx`). */
const PACK_INDEX = /^pack-[0-9a-f]+\.idx$/

/** Head of a pack index of version 2 (gitformat-pack(5)); 256 counts and the sorted ids follow. */
const MAGIC = Buffer.from([0xff, 0x74, 0x4f, 0x63, 0, 0, 0, 2])
const COUNT_BYTES = 4
const NAMES_START = MAGIC.length + 256 * COUNT_BYTES

/** Returns those of the objects that are not in the index of a pack. */
function withoutIndexed(indexFile: string, oids: readonly string[]): readonly string[] {
  const file = openSync(indexFile, 'r')
  try {
    const head = readAt(file, 0, NAMES_START)
    if (!head.subarray(0, MAGIC.length).equals(MAGIC)) return oids
    return oids.filter((oid) => !isIndexed({ file, head }, Buffer.from(oid, 'hex')))
  } finally {
    closeSync(file)
  }
}

interface OpenIndex {
  readonly file: number
  /** Bytes before the ids. */
  readonly head: Buffer
}

function isIndexed({ file, head }: OpenIndex, oid: Buffer): boolean {
  const countBelow = (first: number) =>
    first === 0 ? 0 : head.readUInt32BE(MAGIC.length + (first - 1) * COUNT_BYTES)
  const first = oid[0] ?? 0
  let [low, high] = [countBelow(first), countBelow(first + 1)]
  while (low < high) {
    const middle = (low + high) >>> 1
    const found = readAt(file, NAMES_START + middle * oid.length, oid.length)
    const order = Buffer.compare(found, oid)
    if (order === 0) return true
    if (order < 0) low = middle + 1
    else high = middle
  }
  return false
}

function readAt(file: number, start: number, bytes: number): Buffer {
  const buffer = Buffer.alloc(bytes)
  readSync(file, buffer, 0, bytes, start)
  return buffer
}
