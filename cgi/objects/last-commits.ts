/** Finds the last commit that changed each entry of a folder, within a limited history. */

import { LRUCache } from 'lru-cache'
import { fullId, gitRecords } from '../process/git-output.js'
import { hashesOf } from './changed-path-filters.js'
import type { Repository } from './commit-changes.js'
import { type CommitSource, openCommits } from './commit-source.js'
import { findAncestor, walkHistory } from './history-walk.js'
import { findEntry } from './tree.js'
import { differingEntries } from './tree-changes.js'

export interface LastCommitsInput {
  /** Full id of the newest commit. */
  readonly from: string
  /** Path segments of the folder; empty for the top of the repository. */
  readonly folder: readonly string[]
  readonly names: ReadonlySet<string>
  /** True if the names are those of all entries, so that the result can be cached. */
  readonly isWhole: boolean
  readonly signal?: AbortSignal | undefined
}

/** Maximum number of commits to read. */
const COMMITS_MAX = 300

/** Maximum number of entries to compare, over all commits. */
const ENTRIES_MAX = 400_000

/** Approximate memory of the cached results. */
const KNOWN_BYTES_MAX = 8_388_608

/**
 * Cached results by repository path, commit id and folder. They never expire, because commits are
 * immutable; callers have read the commit.
 */
const known = new LRUCache<string, ReadonlyMap<string, string>>({
  maxSize: KNOWN_BYTES_MAX,
  sizeCalculation: (found) => 300 + 200 * found.size,
})

/**
 * Returns commit ids by the names of the entries. Entries that the latest commits did not change
 * are left out.
 */
export async function lastCommits(
  repository: Repository,
  input: LastCommitsInput,
): Promise<ReadonlyMap<string, string>> {
  const { path } = repository
  const { from, folder, names, isWhole } = input
  const keyOf = (commitId: string) => [path, commitId, ...folder].join('\0')
  const cached = known.get(keyOf(from))
  if (cached !== undefined) return cached
  const source = await openCommits(path, repository.objects)
  const history = { ...repository, source }
  const derived = isWhole
    ? await fromAncestor(history, input, (commitId) => known.get(keyOf(commitId)))
    : undefined
  const found = derived ?? (await findLastCommits(history, input))
  if (isWhole && names.size > 0) known.set(keyOf(from), found)
  return found
}

/** A repository, with its commits unless git must read their parents. */
interface History extends Repository {
  readonly source: CommitSource | undefined
}

/**
 * Derives the result from that of an ancestor, as after a push. Returns undefined if there is none,
 * or if a merge lies between, whose merged commits count.
 */
async function fromAncestor(
  history: History,
  { from, folder }: LastCommitsInput,
  find: (commitId: string) => ReadonlyMap<string, string> | undefined,
): Promise<ReadonlyMap<string, string> | undefined> {
  const { objects, source } = history
  const ancestor = source && (await findAncestor(source, from, find))
  if (ancestor === undefined) return undefined
  const { id, known: former, younger } = ancestor
  if (younger.some(({ parents }) => parents.length > 1)) return undefined
  const found = new Map(former)
  let before = await folderTree(history, id, folder)
  for (const commit of younger.toReversed()) {
    const after = await folderTree(history, commit.id, folder)
    for (const [old, entry] of await differingEntries(objects, { before, after })) {
      if (entry !== undefined) found.set(entry.name, commit.id)
      else if (old !== undefined) found.delete(old.name)
    }
    before = after
  }
  return found
}

async function findLastCommits(
  history: History,
  { names, ...input }: LastCommitsInput,
): Promise<ReadonlyMap<string, string>> {
  const { objects } = history
  const found = new Map<string, string>()
  const trees = new Map<string, Promise<string | undefined>>()
  const treeOf = (commitId: string) => {
    const tree = trees.get(commitId) ?? folderTree(history, commitId, input.folder)
    trees.set(commitId, tree)
    return tree
  }
  let entries = 0
  for await (const commits of changesOf(history, input)) {
    const left = [...names].filter((name) => !found.has(name))
    const pairs = await Promise.all(
      changing(history, commits, { folder: input.folder, left }).map(async ({ id, parent }) => {
        const [before, after] = await Promise.all([parent && treeOf(parent), treeOf(id)])
        return { id, before, after }
      }),
    )
    for (const { id, ...pair } of pairs) {
      for (const [, entry] of await differingEntries(objects, pair)) {
        if (entry === undefined || !names.has(entry.name) || found.has(entry.name)) continue
        found.set(entry.name, id)
      }
      entries += names.size
      if (found.size === names.size || entries > ENTRIES_MAX) return found
    }
  }
  return found
}

async function folderTree(
  { objects, source }: History,
  commitId: string,
  folder: readonly string[],
): Promise<string | undefined> {
  const top = source?.treeOf(commitId) ?? (await objects.read(`${commitId}^{tree}`))?.id
  const entry = top === undefined ? undefined : await findEntry(objects, top, folder)
  return entry?.kind === 'directory' ? entry.id : undefined
}

/** Maximum number of names that are looked for in the filters of commits. */
const FILTERED_NAMES_MAX = 64

/** Returns the commits that may change one of the names that are left in a folder. */
function changing(
  { source }: History,
  commits: readonly Change[],
  { folder, left }: { readonly folder: readonly string[]; readonly left: readonly string[] },
): readonly Change[] {
  if (!source?.hasGraph) return commits
  const folderPath = [hashesOf(folder)]
  const isFew = left.length <= FILTERED_NAMES_MAX
  const paths = isFew ? left.map((name) => hashesOf([...folder, name])) : folderPath
  return commits.filter(({ id }) => source.mayChange(id, folderPath) && source.mayChange(id, paths))
}

/** Number of commits that are walked before git lists more, and whose folders are read together. */
const WALKED_COMMITS = 50
const WALKED_PER_BATCH = 20
/** Number of commits that git lists whose folders are read together. */
const LISTED_PER_BATCH = 50
/** Maximum number of commits to walk with a commit-graph, with the merges. */
const WALKED_IN_GRAPH_MAX = 2 * COMMITS_MAX

interface Change {
  readonly id: string
  readonly parent: string | undefined
}

/** Yields commits in batches, newest first. Merges are skipped: the merged commits count. */
async function* changesOf(
  { git, path, source }: History,
  { from, signal }: Pick<LastCommitsInput, 'from' | 'signal'>,
): AsyncGenerator<readonly Change[]> {
  const walkedMax = source?.hasGraph ? WALKED_IN_GRAPH_MAX : WALKED_COMMITS
  const walked = source && (await walkHistory(source, from, walkedMax))
  const changes = walked?.flatMap(({ id, parents }) =>
    parents.length > 1 ? [] : [{ id, parent: parents[0] }],
  )
  const skipped = Math.min(changes?.length ?? 0, COMMITS_MAX)
  for (let at = 0; at < skipped; at += WALKED_PER_BATCH) {
    yield changes?.slice(at, Math.min(at + WALKED_PER_BATCH, skipped)) ?? []
  }
  if (skipped === COMMITS_MAX || (walked !== undefined && walked.length < walkedMax)) return
  const counts = [`--skip=${skipped}`, `--max-count=${COMMITS_MAX - skipped}`]
  const args = ['rev-list', '--no-merges', '--parents', ...counts, fullId(from), '--']
  const options = { cwd: path, separator: '\n', signal } as const
  let commits: Change[] = []
  for await (const line of gitRecords(git, args, options)) {
    const [id = '', parent] = line.split(' ')
    if (commits.push({ id, parent }) < LISTED_PER_BATCH) continue
    yield commits
    commits = []
  }
  yield commits
}
