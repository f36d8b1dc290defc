/** Diffs between two commits for pages: read within size limits, and cached. */

import { LRUCache } from 'lru-cache'
import type { CommitRange } from '../../../cgi/objects/commit-range.js'
import { readDiff, readFileDiff } from '../../../cgi/objects/diff.js'
import { isFailure } from '../../../conf/failures.js'
import type { GitReader } from '../../actions/code/git-reader.js'
import { type DiffFile, parseDiff } from './diff-lines.js'

const LINES_MAX = 5_000
const DIFF_BYTES_MAX = 1_048_576

export interface ShownDiff {
  readonly files: readonly DiffFile[]
  readonly isCut: boolean
}

export interface ShownRange extends CommitRange {
  /** Path of the only file whose differences are shown. */
  readonly file?: string
  readonly signal: AbortSignal
}

/** Approximate size of the cache, over all repositories, and maximum size of a cached diff. */
const KNOWN_BYTES_MAX = 16 << 20
const KNOWN_DIFF_BYTES_MAX = 262_144

/** Approximate memory of a line besides its text. */
const LINE_BYTES = 80

/** Cached diffs by repository path and commit ids. They never expire: commits are immutable. */
const known = new LRUCache<string, ShownDiff>({
  maxSize: KNOWN_BYTES_MAX,
  maxEntrySize: KNOWN_DIFF_BYTES_MAX,
  sizeCalculation: ({ files }) =>
    files
      .flatMap(({ lines }) => lines)
      .reduce((bytes, { text }) => bytes + text.length + LINE_BYTES, 500 * (files.length + 1)),
})

function keyOf({ path }: Pick<GitReader, 'path'>, { from, to }: CommitRange): string {
  return `${path}\0${from}\0${to}`
}

/** Returns a diff that was read before. The caller has read both commits, which may be pruned. */
export function knownDiff(
  reader: Pick<GitReader, 'path'>,
  range: CommitRange,
): ShownDiff | undefined {
  return known.get(keyOf(reader, range))
}

/** Reads the diff, cut at the limits of a page. Returns undefined if too many files changed. */
export async function readShownDiff(
  reader: Pick<GitReader, 'git' | 'path'>,
  { file, ...range }: ShownRange,
): Promise<ShownDiff | undefined> {
  const { git, path } = reader
  const input = { ...range, format: 'diff', hasBinary: false } as const
  try {
    if (file !== undefined) {
      const text = await readFileDiff(git, path, { ...range, file })
      const isCut = text === undefined || text.length > DIFF_BYTES_MAX
      const diff = parseDiff((text ?? '').slice(0, DIFF_BYTES_MAX), LINES_MAX)
      return { ...diff, isCut: diff.isCut || isCut }
    }
    const chunks: Uint8Array[] = []
    let bytes = 0
    for await (const chunk of await readDiff(git, path, input)) {
      chunks.push(Buffer.from(chunk))
      bytes += chunk.length
      if (bytes > DIFF_BYTES_MAX) break
    }
    const diff = parseDiff(Buffer.concat(chunks).toString(), LINES_MAX)
    const shown = { ...diff, isCut: diff.isCut || bytes > DIFF_BYTES_MAX }
    known.set(keyOf(reader, range), shown)
    return shown
  } catch (error) {
    if (isFailure(error, 'payload_too_large')) return undefined
    throw error
  }
}
