/** Small inputs that make git take much memory: trees of billions of paths, and chained deltas. */

import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { deflateSync } from 'node:zlib'
import { packetLine } from './git-requests.js'
import type { WorkingCopy } from './working-copy.js'

export interface TreeBomb {
  /** Number of entries of each tree, which all refer to the same subtree. */
  readonly width: number
  readonly depth: number
  /** Content of the file at the end of every path. */
  readonly content: string
}

/** Commits a tree with `width` to the power of `depth` paths. Returns the commit. */
export async function commitTreeBomb(
  copy: WorkingCopy,
  { width, depth, content }: TreeBomb,
  parent?: string,
): Promise<string> {
  const write = async (args: readonly string[], input: string) => {
    const { exitCode, output, errorText } = await copy.try(args, { input })
    if (exitCode !== 0) throw new Error(errorText)
    return output.trim()
  }
  let id = await write(['hash-object', '-w', '--stdin'], content)
  for (let level = 0; level < depth; level += 1) {
    const kind = level === 0 ? '100644 blob' : '040000 tree'
    const lines = Array.from({ length: width }, (_, at) => `${kind} ${id}\t${at}\n`)
    id = await write(['mktree'], lines.join(''))
  }
  const parents = parent === undefined ? [] : ['-p', parent]
  return write(['commit-tree', ...parents, '-m', `Write ${content}`, id], '')
}

/** Commits two tree bombs that conflict in every path, with a third one as their merge base. */
export async function conflictingTreeBombs(
  copy: WorkingCopy,
  size: Omit<TreeBomb, 'content'>,
): Promise<{ readonly main: string; readonly side: string }> {
  const base = await commitTreeBomb(copy, { ...size, content: 'base' })
  const main = await commitTreeBomb(copy, { ...size, content: 'main' }, base)
  const side = await commitTreeBomb(copy, { ...size, content: 'side' }, base)
  return { main, side }
}

const OFS_DELTA = 6

/** Maximum size of one copy instruction of a delta (gitformat-pack(5)). */
const COPY_BYTES_MAX = 0xffffff

/**
 * Returns the body of a push that creates `ref`: a commit, and a chain of deltas whose last object
 * has `bytes` bytes. No object refers to that one, but git resolves the deltas to compute its id.
 */
export function deltaBombPush(ref: string, bytes: number): Buffer {
  const tree = Buffer.alloc(0)
  const treeId = idOf('tree', tree)
  const person = 'Ada <ada@example.com> 1700000000 +0000'
  const commit = Buffer.from(`tree ${treeId}\nauthor ${person}\ncommitter ${person}\n\nBomb\n`)
  const packed = [entry(1, commit), entry(2, tree)]
  let size = 65_536
  packed.push(entry(3, Buffer.alloc(size)))
  while (size < bytes) {
    const target = Math.min(bytes, size * 200)
    const base = packed.at(-1)?.length ?? 0
    packed.push(entry(OFS_DELTA, deltaOf(size, target), base))
    size = target
  }
  const head = Buffer.from('PACK\0\0\0\x02\0\0\0\0', 'latin1')
  head.writeUInt32BE(packed.length, 8)
  const pack = Buffer.concat([head, ...packed])
  const trailer = createHash('sha1').update(pack).digest()
  const capabilities = 'report-status side-band-64k object-format=sha1'
  const command = `${'0'.repeat(40)} ${idOf('commit', commit)} ${ref}\0 ${capabilities}\n`
  return Buffer.concat([Buffer.from(`${packetLine(command)}0000`), pack, trailer])
}

function idOf(type: string, content: Buffer): string {
  return createHash('sha1').update(`${type} ${content.length}\0`).update(content).digest('hex')
}

/** Returns a pack entry: type and size, for a delta the distance to its base, and the bytes. */
function entry(type: number, content: Buffer, baseDistance?: number): Buffer {
  const head = [(type << 4) | (content.length & 15)]
  for (let rest = content.length >>> 4; rest > 0; rest >>>= 7) {
    head[head.length - 1] = (head.at(-1) ?? 0) | 0x80
    head.push(rest & 0x7f)
  }
  const offset: number[] = []
  if (baseDistance !== undefined) {
    offset.unshift(baseDistance & 0x7f)
    for (let rest = (baseDistance >>> 7) - 1; rest >= 0; rest = (rest >>> 7) - 1) {
      offset.unshift(0x80 | (rest & 0x7f))
    }
  }
  return Buffer.concat([Buffer.from([...head, ...offset]), deflateSync(content)])
}

/** Returns a delta that copies the start of its base repeatedly. */
function deltaOf(baseBytes: number, bytes: number): Buffer {
  const parts = [varint(baseBytes), varint(bytes)]
  for (let left = bytes; left > 0; ) {
    const length = Math.min(left, baseBytes, COPY_BYTES_MAX)
    // Three bytes of the length, and no offset.
    parts.push(Buffer.from([0xf0, length & 255, (length >> 8) & 255, length >> 16]))
    left -= length
  }
  return Buffer.concat(parts)
}

function varint(value: number): Buffer {
  const bytes: number[] = []
  for (let rest = value; ; rest >>>= 7) {
    bytes.push(rest > 0x7f ? (rest & 0x7f) | 0x80 : rest)
    if (rest <= 0x7f) return Buffer.from(bytes)
  }
}

/** Counts git's commands in a log with one command per line. */
export async function countCommands(log: string): Promise<Readonly<Record<string, number>>> {
  const counts: Record<string, number> = {}
  for (const line of (await readFile(log, 'utf8')).split('\n')) {
    const [command = ''] = line.split(' ')
    if (command !== '') counts[command] = (counts[command] ?? 0) + 1
  }
  return counts
}
