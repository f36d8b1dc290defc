/** Walks of the newest commits of a history, without a process. */

import { hashesOf } from './changed-path-filters.js'
import type { GraphCommit } from './commit-graph-file.js'
import { type Commit, parseCommit } from './commit-object.js'
import type { Ancestors, CommitSource } from './commit-source.js'
import type { ObjectReader } from './objects.js'
import { findEntry } from './tree.js'

/** Maximum number of commits that wait in a walk: a commit may have any number of parents. */
const WAITING_MAX = 1_000

/** Maximum number of commits of a walk to the last change of a path. */
const PATH_STEPS_MAX = 24

/** Maximum number of parents of a commit on such a walk. */
const PARENTS_MAX = 8

/** Maximum number of commits of a walk along first parents. */
const PARENT_STEPS_MAX = 50

/** Reads a commit; undefined if it is missing, as at the end of a shallow history. */
export async function readCommit(
  objects: Pick<ObjectReader, 'read'>,
  id: string,
): Promise<Commit | undefined> {
  const object = await objects.read(id)
  if (object?.type !== 'commit' || object.content === undefined) return undefined
  return parseCommit(object.id, object.content)
}

/**
 * Lists the first commits of a history as `git rev-list` does: the newest commit that is waiting
 * comes next, and of equal times the one that was found first. Excluded commits are left out.
 * Returns undefined if git must list them.
 */
export async function walkHistory(
  source: CommitSource,
  from: string,
  count: number,
  excluded?: Ancestors,
): Promise<readonly GraphCommit[] | undefined> {
  if (excluded?.has(from)) return []
  const first = await source.read(from)
  if (first === undefined) return undefined
  const waiting = [first]
  const seen = new Set([from])
  const commits: GraphCommit[] = []
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    if (commits.push(next) === count) break
    const parents = next.parents.filter((id) => !seen.has(id) && !excluded?.has(id))
    if (waiting.length + parents.length > WAITING_MAX) return undefined
    for (const id of parents) {
      seen.add(id)
      const parent = await source.read(id)
      if (parent === undefined) return undefined
      const place = waiting.findIndex(({ committedAtMs }) => committedAtMs < parent.committedAtMs)
      waiting.splice(place < 0 ? waiting.length : place, 0, parent)
    }
  }
  return commits
}

/** The end of a walk along first parents. */
export interface KnownAncestor<T> {
  readonly id: string
  readonly known: T
  /** Commits from the newest one to the child of the ancestor. */
  readonly younger: readonly GraphCommit[]
}

/** Finds the first commit along the first parents for which `find` returns a value. */
export async function findAncestor<T>(
  source: CommitSource,
  from: string,
  find: (id: string) => T | undefined,
): Promise<KnownAncestor<T> | undefined> {
  const younger: GraphCommit[] = []
  let id: string | undefined = from
  while (id !== undefined && younger.length < PARENT_STEPS_MAX) {
    const known = find(id)
    if (known !== undefined) return { id, known, younger }
    const commit: GraphCommit | undefined = await source.read(id)
    if (commit === undefined) return undefined
    younger.push(commit)
    id = commit.parents[0]
  }
  return undefined
}

/**
 * Returns the id of the last commit that changed a path, as `git rev-list` simplifies the history:
 * it follows the first parent that has the same entry. Returns undefined if git must find it.
 */
export async function walkToChange(
  { objects, source }: { readonly objects: ObjectReader; readonly source: CommitSource },
  { from, segments }: { readonly from: string; readonly segments: readonly string[] },
): Promise<string | undefined> {
  const hashes = hashesOf(segments)
  const entryOf = async ({ tree }: GraphCommit) => {
    const entry = await findEntry(objects, tree, segments)
    return entry && `${entry.mode} ${entry.id}`
  }
  let commit = await source.read(from)
  const entry = commit && (await entryOf(commit))
  if (entry === undefined) return undefined
  for (let steps = 0; commit !== undefined && steps < PATH_STEPS_MAX; steps += 1) {
    const { id, parents } = commit
    if (parents.length > PARENTS_MAX) return undefined
    let same: string | undefined
    for (const parentId of parents) {
      const parent = await source.read(parentId)
      if (parent === undefined) return undefined
      if ((await entryOf(parent)) !== entry) continue
      same = parentId
      break
    }
    if (same === undefined) return id
    commit = await source.read(hashes ? await source.skipUnchanged(same, hashes) : same)
  }
  return undefined
}
