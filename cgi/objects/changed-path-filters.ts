/**
 * Bloom filters of the paths that commits change against their first parents, in a commit-graph
 * (gitformat-commit-graph(5), "Bloom Filter Data").
 */

/** Hashes of a path, from which a filter computes the places of its bits. */
export type PathHashes = readonly [first: number, step: number]

const HEADER_BYTES = 12
/** Number of bits of a path. */
const HASHES = 7
const SEEDS = [0x293a_e76f, 0x7e64_6e2c] as const

/** Filters by the position of a commit. */
export interface ChangedPathFilters {
  /** Returns false if the commit does not change the path or anything below it. */
  mayContain(position: number, path: PathHashes): boolean
}

/**
 * Returns the filters of a graph from the contents of its chunks; undefined if there are none of a
 * known form.
 */
export function filtersOf(
  ends: Buffer | undefined,
  data: Buffer | undefined,
): ChangedPathFilters | undefined {
  if (ends === undefined || data === undefined || data.length < HEADER_BYTES) return undefined
  const [version, hashes] = [data.readUInt32BE(0), data.readUInt32BE(4)]
  // Both versions have the same hashes for paths in ASCII.
  if ((version !== 1 && version !== 2) || hashes !== HASHES) return undefined
  const endOf = (position: number) => ends.readUInt32BE(position * 4)
  return {
    mayContain(position, [first, step]) {
      const begin = position === 0 ? 0 : endOf(position - 1)
      const filter = data.subarray(HEADER_BYTES + begin, HEADER_BYTES + endOf(position))
      const bits = filter.length * 8
      // The filter of a commit may not have been computed.
      if (bits === 0) return true
      for (let hash = 0; hash < HASHES; hash += 1) {
        const bit = ((first + Math.imul(hash, step)) >>> 0) % bits
        const byte = filter[bit >>> 3] ?? 0
        if ((byte & (1 << (bit & 7))) === 0) return false
      }
      return true
    },
  }
}

/**
 * Returns the hashes of a path; undefined for one with other characters than ASCII, which the first
 * version of the filters hashes in another way.
 */
export function hashesOf(segments: readonly string[]): PathHashes | undefined {
  const path = segments.join('/')
  const bytes = Buffer.from(path)
  if (bytes.length !== path.length || path === '') return undefined
  return [murmur3(bytes, SEEDS[0]), murmur3(bytes, SEEDS[1])]
}

/** Hash of 32 bits: MurmurHash3_x86_32. */
function murmur3(bytes: Buffer, seed: number): number {
  const wholeBytes = bytes.length - (bytes.length % 4)
  let hash = seed
  for (let at = 0; at < wholeBytes; at += 4) {
    hash = rotateLeft(hash ^ mix(bytes.readUInt32LE(at)), 13)
    hash = (Math.imul(hash, 5) + 0xe654_6b64) | 0
  }
  let rest = 0
  for (let at = bytes.length - 1; at >= wholeBytes; at -= 1) rest = (rest << 8) | (bytes[at] ?? 0)
  if (wholeBytes < bytes.length) hash ^= mix(rest)
  hash ^= bytes.length
  hash = Math.imul(hash ^ (hash >>> 16), 0x85eb_ca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2_ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}

function mix(word: number): number {
  return Math.imul(rotateLeft(Math.imul(word, 0xcc9e_2d51), 15), 0x1b87_3593)
}

function rotateLeft(word: number, bits: number): number {
  return (word << bits) | (word >>> (32 - bits))
}
