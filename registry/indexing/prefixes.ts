/** A cache of digests of file prefixes, because a new generation often changes only the end. */

import { createHash } from 'node:crypto'
import type { RunningDigests } from '../digests.js'
import type { FileContent, Span } from '../index-maker.js'

/** The cache of one process. */
export interface Prefixes {
  /** Returns the longest cached one of these prefixes, which are sorted by size. */
  find(beginnings: readonly Prefix[]): CachedPrefix | undefined
  keep(known: CachedPrefix): void
}

/** Prefix of a file. */
export interface Prefix {
  /** Digest of the bytes and of their division into pieces. */
  readonly id: string
  readonly bytes: number
}

export interface CachedPrefix extends Prefix {
  readonly digests: RunningDigests
}

/** Maximum number of cached prefixes, which take some hundred bytes each. */
const KNOWN_MAX = 500

/** Creates an empty cache, which evicts the least recently used prefix. */
export function createPrefixes(): Prefixes {
  const all = new Map<string, CachedPrefix>()
  const keep = (known: CachedPrefix) => {
    all.delete(known.id)
    all.set(known.id, known)
    const [oldest] = all.keys()
    if (all.size > KNOWN_MAX && oldest !== undefined) all.delete(oldest)
  }
  return {
    keep,
    find(beginnings) {
      const found = beginnings.findLast(({ id }) => all.has(id))
      const known = found && all.get(found.id)
      if (known !== undefined) keep(known)
      return known
    },
  }
}

/** Returns all prefixes of a file that end with a piece of its first text, shortest first. */
export function prefixesOf(content: FileContent): readonly Prefix[] {
  const head: Uint8Array[] = []
  for (const piece of content) {
    if (!(piece instanceof Uint8Array)) return beginningsAfter(Buffer.concat(head), piece.spans)
    head.push(piece)
  }
  return []
}

function beginningsAfter(head: Buffer, spans: readonly Span[]): readonly Prefix[] {
  let last: Prefix = { id: idOf(head), bytes: head.byteLength }
  return spans.map(({ id, bytes }) => {
    last = { id: idOf(Buffer.from(last.id + id)), bytes: last.bytes + bytes }
    return last
  })
}

function idOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('base64url')
}
