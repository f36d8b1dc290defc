/** An index in runs of neighbouring keys, so that a change makes one run anew and not the index. */

import { createHash } from 'node:crypto'

/** Of so many keys one begins a run, on average. */
const KEYS_PER_RUN = 128
/** A run with more is cut in two at the next key: no choice of keys fills the memory. */
const ENTRIES_MAX = 16 * KEYS_PER_RUN

/**
 * Whether a run begins at this key, wherever it stands. As it follows from the key alone, the same
 * entries are always in the same runs.
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
 * Splits entries, which come in the order of their keys, into runs. The first begins at `from`,
 * even if nothing is in it.
 */
export async function* splitRuns<Entry extends Keyed>(
  from: string,
  entries: AsyncIterable<Entry>,
): AsyncGenerator<RunOfEntries<Entry>, void, undefined> {
  let run: { from: string; entries: Entry[] } = { from, entries: [] }
  let lastKey = from
  for await (const entry of entries) {
    const { key } = entry
    const isNext = key !== lastKey && (run.entries.length >= ENTRIES_MAX || beginsRun(key))
    if (isNext) {
      yield run
      run = { from: key, entries: [] }
    }
    run.entries.push(entry)
    lastKey = key
  }
  yield run
}

/** Some runs that follow each other. */
export interface RunRange {
  readonly first: number
  /** The first run that is no more of it. */
  readonly end: number
}

/**
 * Which of the runs that begin at these keys, in order and the first at the empty one, have to be
 * made anew when something changed at those keys: with a run all others that its entries could be
 * in now.
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

/** Where a run was cut for its size says nothing of where the next one will be. */
function stretchAround(froms: readonly string[], key: string): RunRange {
  const next = froms.findIndex((from) => from > key)
  let end = next < 0 ? froms.length : next
  let first = end - 1
  // The key at which a run begins may be gone: then its entries belong to the run before.
  if (first > 0 && froms[first] === key) first -= 1
  while (first > 0 && !beginsRun(froms[first] ?? '')) first -= 1
  while (end < froms.length && !beginsRun(froms[end] ?? '')) end += 1
  return { first, end }
}
