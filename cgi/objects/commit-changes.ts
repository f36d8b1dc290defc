/** Changed files and lines of many commits, each compared with its first parent. */

import { LRUCache } from 'lru-cache'
import type { Git } from '../process/git.js'
import { fullId, gitRecords } from '../process/git-output.js'
import { refusalKey, rememberRefusal } from '../process/refusals.js'
import type { Commit } from './commit-object.js'
import type { ObjectReader } from './objects.js'
import { type Budget, type ChangedPath, changedPaths, type TreePair } from './tree-changes.js'
import { areWalkable } from './tree-size.js'

/** Changes of a commit against its first parent. */
export interface CommitChanges {
  readonly files: readonly ChangedPath[]
  readonly lines: LineCounts | undefined
}

/** Numbers of added and deleted lines, without binary files. */
export interface LineCounts {
  readonly additions: number
  readonly deletions: number
}

type CommitPlace = Pick<Commit, 'id' | 'tree' | 'parents'>

export interface ChangesInput {
  readonly commits: readonly CommitPlace[]
  /** True to count lines, for which git must read the files. */
  readonly hasLines: boolean
  readonly signal?: AbortSignal | undefined
}

/** An open repository. */
export interface Repository {
  readonly git: Git
  readonly path: string
  readonly objects: ObjectReader
}

/** Maximum number of changed paths, over all commits of one call. */
const PATHS_MAX = 50_000

/** Approximate size of the cache, over all repositories. */
const KNOWN_BYTES_MAX = 8 << 20

/** Cached changes by repository path and commit id. They never expire: commits are immutable. */
const known = new LRUCache<string, CommitChanges>({
  maxSize: KNOWN_BYTES_MAX,
  sizeCalculation: ({ files }) => files.reduce((sum, { path }) => sum + path.length + 100, 500),
})

/** Returns the changes by commit id. Commits that exceed `PATHS_MAX` in total are left out. */
export async function readChanges(
  repository: Repository,
  { commits, hasLines, signal }: ChangesInput,
): Promise<ReadonlyMap<string, CommitChanges>> {
  const budget: Budget = { entries: PATHS_MAX }
  const remembered = new Map<string, CommitChanges>()
  for (const { id } of commits) {
    const changes = known.get(keyOf(repository, id))
    if (changes === undefined || (hasLines && changes.lines === undefined)) continue
    if (changes.files.length > budget.entries) continue
    budget.entries -= changes.files.length
    remembered.set(id, changes)
  }
  const input = { commits: commits.filter(({ id }) => !remembered.has(id)), hasLines, signal }
  const read = await readUncached(repository, input, budget)
  for (const [id, changes] of read) known.set(keyOf(repository, id), changes)
  const all = new Map<string, CommitChanges>()
  for (const { id } of commits) {
    const changes = remembered.get(id) ?? read.get(id)
    if (changes !== undefined) all.set(id, hasLines ? changes : { ...changes, lines: undefined })
  }
  return all
}

function keyOf({ path }: Repository, id: string): string {
  return `${path}\0${id}`
}

async function readUncached(
  { git, path, objects }: Repository,
  { commits, hasLines, signal }: ChangesInput,
  budget: Budget,
): Promise<ReadonlyMap<string, CommitChanges>> {
  const trees = new Map(commits.map(({ id, tree }) => [id, tree]))
  const reads = commits.map(async (commit) => ({
    commit,
    files: await filesOf(objects, commit, { budget, trees }),
  }))
  // Git counts the lines of the first commits while the files of the others are being read.
  const [readFiles, lines] = await Promise.all([
    Promise.all(reads),
    hasLines && commits.length > 0
      ? rememberRefusal(refusalKey(path, ['lines', ...commits.map(({ id }) => id)]), () =>
          countLines(git, path, boundedOf(reads), signal),
        )
      : undefined,
  ])
  const changes = new Map<string, CommitChanges>()
  for (const { commit, files } of readFiles) {
    if (files === undefined) continue
    const counted = lines && (lines.get(commit.id) ?? { additions: 0, deletions: 0 })
    changes.set(commit.id, { files, lines: counted })
  }
  return changes
}

interface ReadFiles {
  readonly commit: CommitPlace
  readonly files: readonly ChangedPath[] | undefined
}

/** Yields, in order, the commits whose files could be listed, so that git may diff them. */
async function* boundedOf(reads: readonly Promise<ReadFiles>[]): AsyncGenerator<CommitPlace> {
  for (const read of reads) {
    const { commit, files } = await read
    if (files !== undefined) yield commit
  }
}

/** Returns true if a commit changes at most `PATHS_MAX` paths, so that git may diff it. */
export async function isBounded(objects: ObjectReader, commit: CommitPlace): Promise<boolean> {
  const { tree: after, parents } = commit
  const before = await treeOf(objects, parents[0])
  return isBoundedPair(objects, { before, after })
}

/** Returns true if two trees differ in at most `PATHS_MAX` paths, so that git may diff them. */
export function isBoundedPair(objects: ObjectReader, pair: TreePair): Promise<boolean> {
  return areWalkable(objects, [pair], PATHS_MAX)
}

async function treeOf(objects: ObjectReader, id: string | undefined): Promise<string | undefined> {
  return id && (await objects.read(`${id}^{tree}`))?.id
}

interface ReadOptions {
  readonly budget: Budget
  /** Known trees of commits, by commit id. */
  readonly trees: ReadonlyMap<string, string>
}

async function filesOf(
  objects: ObjectReader,
  { tree, parents: [parent] }: CommitPlace,
  { budget, trees }: ReadOptions,
): Promise<readonly ChangedPath[] | undefined> {
  const known = parent && trees.get(parent)
  const before = known ?? (await treeOf(objects, parent))
  return changedPaths(objects, { before, after: tree }, budget)
}

async function countLines(
  git: Git,
  path: string,
  commits: AsyncIterable<CommitPlace>,
  signal: AbortSignal | undefined,
): Promise<ReadonlyMap<string, LineCounts>> {
  const counts = new Map<string, LineCounts>()
  const options = ['-r', '--root', '--no-renames', '--no-ext-diff', '--no-textconv', '-z']
  const args = ['diff-tree', '--stdin', ...options, '--numstat']
  const from = { cwd: path, separator: '\0' as const, input: linesOf(commits), signal }
  let id = ''
  for await (const record of gitRecords(git, args, from)) {
    const [, added, removed] = /^(\d+|-)\t(\d+|-)\t/.exec(record) ?? []
    if (added === undefined || removed === undefined) {
      id = record
      continue
    }
    const { additions, deletions } = counts.get(id) ?? { additions: 0, deletions: 0 }
    counts.set(id, {
      additions: additions + (Number(added) || 0),
      deletions: deletions + (Number(removed) || 0),
    })
  }
  return counts
}

async function* linesOf(commits: AsyncIterable<CommitPlace>): AsyncGenerator<string> {
  for await (const { id, parents } of commits) {
    const [parent] = parents
    yield parent === undefined ? `${id}\n` : `${id} ${fullId(parent)}\n`
  }
}
