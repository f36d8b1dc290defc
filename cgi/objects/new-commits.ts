/** The commits that one set of commits reaches and another one does not. */

import type { Commit } from './commit-object.js'
import { readCommit } from './history-walk.js'
import type { ObjectReader } from './objects.js'

/** A part of a history: what the wanted commits reach and the known ones do not. */
export interface CommitsQuestion {
  readonly wanted: readonly string[]
  readonly known: readonly string[]
  /** Returns true if a commit counts as known although it is not named. */
  readonly isKnown?: (id: string) => boolean
  /** Maximum number of commits that are read. */
  readonly readsMax: number
}

interface Visited {
  readonly commit: Commit
  isKnown: boolean
}

/**
 * Lists the new commits. Each parent of one is new as well, or reached from a known commit. The
 * newest commit is read next, as in git; if times are wrong, known commits may be listed as new.
 * Returns undefined if a commit is missing or more than `readsMax` are needed.
 */
export async function newCommits(
  objects: Pick<ObjectReader, 'read'>,
  { wanted, known, isKnown = () => false, readsMax }: CommitsQuestion,
): Promise<readonly Commit[] | undefined> {
  const visited = new Map<string, Visited>()
  const waiting: Visited[] = []
  const listed: Visited[] = []
  const visit = async (id: string, isReached: boolean): Promise<boolean> => {
    const former = visited.get(id)
    if (former === undefined) {
      if (visited.size === readsMax) return false
      const commit = await readCommit(objects, id)
      if (commit === undefined) return false
      const next = { commit, isKnown: isReached }
      visited.set(id, next)
      insert(waiting, next)
    } else if (isReached) {
      former.isKnown = true
    }
    return true
  }
  for (const id of wanted) if (!isKnown(id) && !(await visit(id, false))) return undefined
  for (const id of known) if (!(await visit(id, true))) return undefined
  while (waiting.some((next) => !next.isKnown)) {
    const next = waiting.shift()
    if (next === undefined) break
    if (!next.isKnown) listed.push(next)
    for (const id of next.commit.parents) {
      if (!isKnown(id) && !(await visit(id, next.isKnown))) return undefined
    }
  }
  return listed.filter((entry) => !entry.isKnown).map(({ commit }) => commit)
}

/** Inserts a commit before the older ones, and a known one before others of the same time. */
function insert(waiting: Visited[], next: Visited): void {
  const { atMs } = next.commit.committer
  const place = waiting.findIndex((other) => {
    const otherAtMs = other.commit.committer.atMs
    return otherAtMs < atMs || (otherAtMs === atMs && next.isKnown && !other.isKnown)
  })
  waiting.splice(place < 0 ? waiting.length : place, 0, next)
}
