/** The digests of how files begin: of a file of the next generation the end alone is new. */

import { createHash } from 'node:crypto'
import type { RunningDigests } from '../digests.js'
import type { FileContent, Span } from '../index-maker.js'

/** How some files begin, as far as this process has seen them written. */
export interface Prefixes {
  /** The longest known one of these. */
  find(beginnings: readonly Prefix[]): CachedPrefix | undefined
  keep(known: CachedPrefix): void
}

/** The first so many bytes of a file. */
export interface Prefix {
  /** The same for the same bytes alone. */
  readonly id: string
  readonly bytes: number
}

export interface CachedPrefix extends Prefix {
  readonly digests: RunningDigests
}

/** Of each some hundred bytes are kept. */
const KNOWN_MAX = 500

/** Knows none yet, and forgets those that were of no use for long. */
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

/** All beginnings of a file that end with a piece of its first text, the shortest first. */
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
