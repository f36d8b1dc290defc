/** Runs of consecutive keys: a change of an index renders only one run again. */

import { createHash } from 'node:crypto'

/** Average number of keys in a run. */
const KEYS_PER_RUN = 128
/** Number of entries at which a run is split at the next key, to limit the memory of a build. */
const ENTRIES_MAX = 16 * KEYS_PER_RUN
/** Size of large texts at which a run is split at the next key, for the same reason. */
const BYTES_MAX = 4_194_304

/**
 * Returns true if a run begins at this key. This depends on the key alone, so a change of other
 * entries does not move the boundary (content-defined chunking).
 */
export function beginsRun(key: string): boolean {
  return createHash('sha256').update(key).digest().readUInt32BE(0) % KEYS_PER_RUN === 0
}

export interface Keyed {
  readonly key: string
}

export interface RunOfEntries<Entry extends Keyed> {
  readonly from: string
  readonly entries: readonly Entry[]
}

/**
 * Splits entries, sorted by key, into runs. The first run begins at `from`, and can be empty.
 * `bytesOf` returns the size of an entry in large texts.
 */
export async function* splitRuns<Entry extends Keyed>(
  from: string,
  entries: AsyncIterable<Entry>,
  bytesOf: (entry: Entry) => number = () => 0,
): AsyncGenerator<RunOfEntries<Entry>, void, undefined> {
  let run: { from: string; entries: Entry[] } = { from, entries: [] }
  let lastKey = from
  let bytes = 0
  for await (const entry of entries) {
    const { key } = entry
    const isFull = run.entries.length >= ENTRIES_MAX || bytes >= BYTES_MAX
    if (key !== lastKey && (isFull || beginsRun(key))) {
      yield run
      run = { from: key, entries: [] }
      bytes = 0
    }
    run.entries.push(entry)
    bytes += bytesOf(entry)
    lastKey = key
  }
  yield run
}

/** Range of consecutive runs. */
export interface RunRange {
  readonly first: number
  /** Index after the last run. */
  readonly end: number
}

/**
 * Returns the runs that must be rendered again after changes at some keys: the run of each changed
 * key, and all runs to which its entries can belong now. `froms` are the first keys of all runs, in
 * order, beginning with the empty key.
 */
export function staleRanges(
  froms: readonly string[],
  changedKeys: readonly string[],
): readonly RunRange[] {
  const stretches: RunRange[] = []
  for (const key of [...new Set(changedKeys)].sort()) {
    const { first, end } = stretchAround(froms, key)
    const last = stretches.at(-1)
    if (last === undefined || last.end < first) stretches.push({ first, end })
    else stretches[stretches.length - 1] = { first: last.first, end: Math.max(end, last.end) }
  }
  return stretches
}

/**
 * Returns the runs around a changed key. Boundaries at which a run was split for its size are not
 * stable, so the range extends to boundaries that `beginsRun` determines.
 */
function stretchAround(froms: readonly string[], key: string): RunRange {
  const next = froms.findIndex((from) => from > key)
  let end = next < 0 ? froms.length : next
  let first = end - 1
  // If the first key of the run was removed, its other entries belong to the run before.
  if (first > 0 && froms[first] === key) first -= 1
  while (first > 0 && !beginsRun(froms[first] ?? '')) first -= 1
  while (end < froms.length && !beginsRun(froms[end] ?? '')) end += 1
  return { first, end }
}
