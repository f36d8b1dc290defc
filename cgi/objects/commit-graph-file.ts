/** Commits in the commit-graph of a repository (gitformat-commit-graph(5)). */

import { createHash } from 'node:crypto'
import { type ChangedPathFilters, filtersOf, type PathHashes } from './changed-path-filters.js'

/** Parts of a commit that a history is walked by. */
export interface GraphCommit {
  readonly id: string
  readonly tree: string
  readonly parents: readonly string[]
  /** Time of the committer. */
  readonly committedAtMs: number
}

const SIGNATURE = 'CGPH'
const VERSION = 1
const HEADER_BYTES = 8
/** Bytes of a line of the table of contents: name and position of a chunk. */
const LINE_BYTES = 12
const FANOUT_BYTES = 256 * 4

/** Position of a parent that does not exist. */
const NO_PARENT = 0x7000_0000
/** Bit of the second parent that is a position in the list of further parents. */
const IS_LIST = 0x8000_0000
/** Bit of the last parent in that list. */
const IS_LAST = 0x8000_0000
/** Bits of a commit time that precede its lower 32 bits; those before them are the generation. */
const HIGH_TIME_BITS = 0x3

/** Bytes of a commit's data besides the id of its tree: two parents, generation and time. */
const DATA_BYTES = 16

/** A parsed commit-graph. Its methods throw a RangeError for positions that it does not have. */
export class CommitGraphFile {
  readonly #idBytes: number
  readonly #fanout: Buffer
  readonly #ids: Buffer
  readonly #data: Buffer
  readonly #furtherParents: Buffer
  readonly #filters: ChangedPathFilters | undefined

  /** Parses a whole file. Throws an Error if it is damaged or has another form. */
  constructor(bytes: Buffer) {
    const isCommitGraph = bytes.toString('latin1', 0, SIGNATURE.length) === SIGNATURE
    if (!isCommitGraph || bytes.readUInt8(4) !== VERSION) throw new Error('unknown form')
    const isSha256 = bytes.readUInt8(5) === 2
    this.#idBytes = isSha256 ? 32 : 20
    // A graph above others has the commits that they lack.
    if (bytes.readUInt8(7) !== 0) throw new Error('a part of a chain')
    const content = bytes.subarray(0, -this.#idBytes)
    const digest = createHash(isSha256 ? 'sha256' : 'sha1')
      .update(content)
      .digest()
    if (!digest.equals(bytes.subarray(-this.#idBytes))) throw new Error('another checksum')
    const chunks = chunksOf(content)
    const chunk = (name: string) => chunks.get(name) ?? Buffer.alloc(0)
    this.#fanout = chunk('OIDF')
    this.#ids = chunk('OIDL')
    this.#data = chunk('CDAT')
    this.#furtherParents = chunk('EDGE')
    this.#filters = filtersOf(chunks.get('BIDX'), chunks.get('BDAT'))
    if (this.#fanout.length !== FANOUT_BYTES) throw new Error('no fanout table')
    if (this.#ids.length !== this.count * this.#idBytes) throw new Error('another number of ids')
    if (this.#data.length !== this.count * this.#lineBytes) throw new Error('another size of data')
  }

  /** Number of commits. */
  get count(): number {
    return this.#fanout.readUInt32BE(FANOUT_BYTES - 4)
  }

  /** Returns the position of a commit; undefined if the graph does not have it. */
  find(id: string): number | undefined {
    const wanted = Buffer.from(id, 'hex')
    const [firstByte = 0] = wanted
    let low = firstByte === 0 ? 0 : this.#fanout.readUInt32BE((firstByte - 1) * 4)
    let high = Math.min(this.#fanout.readUInt32BE(firstByte * 4), this.count)
    while (low < high) {
      const middle = Math.floor((low + high) / 2)
      const at = middle * this.#idBytes
      const order = wanted.compare(this.#ids, at, at + this.#idBytes)
      if (order === 0) return middle
      if (order < 0) high = middle
      else low = middle + 1
    }
    return undefined
  }

  /** Returns the commit at a position. */
  commitAt(position: number): GraphCommit {
    const at = position * this.#lineBytes
    const timeAt = at + this.#lineBytes - 8
    const highTime = this.#data.readUInt32BE(timeAt) & HIGH_TIME_BITS
    const seconds = highTime * 2 ** 32 + this.#data.readUInt32BE(timeAt + 4)
    return {
      id: this.#idAt(position),
      tree: this.#data.toString('hex', at, at + this.#idBytes),
      parents: this.parentsOf(position).map((parent) => this.#idAt(parent)),
      committedAtMs: seconds * 1_000,
    }
  }

  /** Returns the positions of the parents of a commit. */
  parentsOf(position: number): readonly number[] {
    const at = position * this.#lineBytes + this.#idBytes
    const first = this.#data.readUInt32BE(at)
    const second = this.#data.readUInt32BE(at + 4)
    if (first === NO_PARENT) return []
    if (second === NO_PARENT) return [first]
    if (second < IS_LIST) return [first, second]
    const parents = [first]
    for (let line = second - IS_LIST; ; line += 1) {
      const parent = this.#furtherParents.readUInt32BE(line * 4)
      parents.push(parent % IS_LAST)
      if (parent >= IS_LAST) return parents
    }
  }

  /**
   * Returns false if a commit has the same entry at a path as its first parent; true if it may have
   * another one.
   */
  mayChange(position: number, path: PathHashes): boolean {
    return this.#filters?.mayContain(position, path) ?? true
  }

  get #lineBytes(): number {
    return this.#idBytes + DATA_BYTES
  }

  #idAt(position: number): string {
    if (position >= this.count) throw new RangeError('a parent that the graph does not have')
    return this.#ids.toString('hex', position * this.#idBytes, (position + 1) * this.#idBytes)
  }
}

/** Returns the chunks by their names. */
function chunksOf(bytes: Buffer): ReadonlyMap<string, Buffer> {
  const chunks = new Map<string, Buffer>()
  const count = bytes.readUInt8(6)
  for (let at = HEADER_BYTES; at < HEADER_BYTES + count * LINE_BYTES; at += LINE_BYTES) {
    const begin = Number(bytes.readBigUInt64BE(at + 4))
    // A last line without a name has the end of the last chunk.
    const end = Number(bytes.readBigUInt64BE(at + 4 + LINE_BYTES))
    if (begin > end || end > bytes.length) throw new Error('a chunk ends after the file')
    chunks.set(bytes.toString('latin1', at, at + 4), bytes.subarray(begin, end))
  }
  return chunks
}
