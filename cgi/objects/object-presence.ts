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
    const others = (isIndexed: (oid: string) => boolean) => missing.filter((oid) => !isIndexed(oid))
    missing = unlessMissingSync(() => withIndex(join(folder, name), others)) ?? missing
  }
  return missing.every((oid) => existsSync(join(objects, oid.slice(0, 2), oid.slice(2))))
}

/** Excludes the temporary indexes that a repack writes (`.tmp-PID-pack-*.idx`). */
const PACK_INDEX = /^pack-[0-9a-f]+\.idx$/

/** Maximum number of objects that are looked for in the packs of a bitmap. */
const IN_BITMAP_MAX = 256

/**
 * Returns true if the repository has a bitmap, and one of the first 256 objects is in the packs of
 * that bitmap. Without this, `git rev-list` and `git pack-objects` do not use it to exclude them.
 */
export function hasBitmapOf(repositoryPath: string, oids: readonly string[]): boolean {
  const sought = oids.slice(0, IN_BITMAP_MAX)
  const folder = join(repositoryPath, 'objects', 'pack')
  const indexes = readdirSync(folder).flatMap((name) => {
    if (MULTI_PACK_BITMAP.test(name)) return ['multi-pack-index']
    return PACK_BITMAP.test(name) ? [name.replace('.bitmap', '.idx')] : []
  })
  // An upkeep replaces these files at any moment.
  const hasOne = (name: string) =>
    unlessMissingSync(() =>
      withIndex(join(folder, name), (isIndexed) => sought.some((oid) => isIndexed(oid))),
    )
  return indexes.some((name) => hasOne(name) === true)
}

const MULTI_PACK_BITMAP = /^multi-pack-index-[0-9a-f]+\.bitmap$/
const PACK_BITMAP = /^pack-[0-9a-f]+\.bitmap$/

const COUNT_BYTES = 4
const COUNTS_BYTES = 256 * COUNT_BYTES

/** Runs `use` with a function that looks in an index; one of an unknown format has no objects. */
function withIndex<T>(indexFile: string, use: (isIndexed: (oid: string) => boolean) => T): T {
  const file = openSync(indexFile, 'r')
  try {
    const ids = idsIn(file)
    return use((oid) => ids !== undefined && isAmong(ids, Buffer.from(oid, 'hex')))
  } finally {
    closeSync(file)
  }
}

/** Sorted ids in an open file. */
interface SortedIds {
  readonly file: number
  /** Numbers of ids whose first byte is at most each byte. */
  readonly counts: Buffer
  /** Position of the first id. */
  readonly start: number
}

/** Beginning of a pack index of version 2; the counts and the ids follow (gitformat-pack(5)). */
const PACK_MAGIC = Buffer.from([0xff, 0x74, 0x4f, 0x63, 0, 0, 0, 2])
/** Beginning of a multi-pack-index, and the version; a table of chunks follows its header. */
const MULTI_PACK_MAGIC = Buffer.from('MIDX\x01')
const CHUNK_COUNT_AT = 6
const CHUNKS_AT = 12
/** Length of an entry of the table: a name, and the position of the chunk in 8 bytes. */
const CHUNK_BYTES = 12

function idsIn(file: number): SortedIds | undefined {
  const head = readAt(file, 0, CHUNKS_AT)
  if (startsWith(head, PACK_MAGIC)) {
    const counts = readAt(file, PACK_MAGIC.length, COUNTS_BYTES)
    return { file, counts, start: PACK_MAGIC.length + COUNTS_BYTES }
  }
  if (!startsWith(head, MULTI_PACK_MAGIC)) return undefined
  const table = readAt(file, CHUNKS_AT, head.readUInt8(CHUNK_COUNT_AT) * CHUNK_BYTES)
  const [counts, start] = [chunkAt(table, 'OIDF'), chunkAt(table, 'OIDL')]
  if (counts === undefined || start === undefined) return undefined
  return { file, counts: readAt(file, counts, COUNTS_BYTES), start }
}

function startsWith(head: Buffer, magic: Buffer): boolean {
  return head.subarray(0, magic.length).equals(magic)
}

/** Returns the position of a chunk in the file; undefined if the table does not have it. */
function chunkAt(table: Buffer, name: string): number | undefined {
  for (let at = 0; at < table.length; at += CHUNK_BYTES) {
    if (table.toString('latin1', at, at + name.length) === name) {
      return Number(table.readBigUInt64BE(at + name.length))
    }
  }
  return undefined
}

function isAmong({ file, counts, start }: SortedIds, oid: Buffer): boolean {
  const countBelow = (first: number) =>
    first === 0 ? 0 : counts.readUInt32BE((first - 1) * COUNT_BYTES)
  const first = oid[0] ?? 0
  let [low, high] = [countBelow(first), countBelow(first + 1)]
  while (low < high) {
    const middle = (low + high) >>> 1
    const found = readAt(file, start + middle * oid.length, oid.length)
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
