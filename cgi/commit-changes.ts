/** What commits changed, each against its first parent: files and lines, for many at once. */

import type { Commit } from './commit-object.js'
import type { Git } from './git.js'
import { fullId, gitRecords } from './git-output.js'
import type { ObjectReader } from './objects.js'
import { type Budget, type ChangedPath, changedPaths, type TreePair } from './tree-changes.js'

/** What one commit changed. */
export interface CommitChanges {
  readonly files: readonly ChangedPath[]
  readonly lines: LineCounts | undefined
}

/** Lines; none of a binary file. */
export interface LineCounts {
  readonly additions: number
  readonly deletions: number
}

type CommitPlace = Pick<Commit, 'id' | 'tree' | 'parents'>

export interface ChangesWish {
  readonly commits: readonly CommitPlace[]
  /** Without them git need not read a file. */
  readonly hasLines: boolean
  readonly signal?: AbortSignal | undefined
}

/** An open repository. */
export interface Repository {
  readonly git: Git
  readonly path: string
  readonly objects: ObjectReader
}

/** Paths that differ, of all commits of one answer. */
const PATHS_MAX = 50_000

/** By the id of each commit. Those that make it more than an answer holds are not among them. */
export async function readChanges(
  { git, path, objects }: Repository,
  { commits, hasLines, signal }: ChangesWish,
): Promise<ReadonlyMap<string, CommitChanges>> {
  const changes = new Map<string, CommitChanges>()
  const budget: Budget = { entries: PATHS_MAX }
  const all = await Promise.all(commits.map((commit) => filesOf(objects, commit, budget)))
  for (const [index, files] of all.entries()) {
    if (files !== undefined) changes.set(commits[index]?.id ?? '', { files, lines: undefined })
  }
  if (!hasLines) return changes
  const known = commits.filter(({ id }) => changes.has(id))
  const lines = await countLines(git, path, known, signal)
  for (const [id, { files }] of changes) {
    changes.set(id, { files, lines: lines.get(id) ?? { additions: 0, deletions: 0 } })
  }
  return changes
}

/** Whether a commit changed so little that git may be asked for the whole of it. */
export async function isBounded(objects: ObjectReader, commit: CommitPlace): Promise<boolean> {
  return (await filesOf(objects, commit, { entries: PATHS_MAX })) !== undefined
}

/** Whether two trees differ in so little that git may be asked for the whole of it. */
export async function isBoundedPair(objects: ObjectReader, pair: TreePair): Promise<boolean> {
  return (await changedPaths(objects, pair, { entries: PATHS_MAX })) !== undefined
}

async function filesOf(
  objects: ObjectReader,
  { tree, parents: [parent] }: CommitPlace,
  budget: Budget,
): Promise<readonly ChangedPath[] | undefined> {
  const before = parent === undefined ? undefined : (await objects.read(`${parent}^{tree}`))?.id
  return changedPaths(objects, { before, after: tree }, budget)
}

async function countLines(
  git: Git,
  path: string,
  commits: readonly CommitPlace[],
  signal: AbortSignal | undefined,
): Promise<ReadonlyMap<string, LineCounts>> {
  const counts = new Map<string, LineCounts>()
  if (commits.length === 0) return counts
  const input = commits
    .map(({ id, parents: [parent] }) => (parent === undefined ? id : `${id} ${fullId(parent)}`))
    .map((line) => `${line}\n`)
    .join('')
  const options = ['-r', '--root', '--no-renames', '--no-ext-diff', '--no-textconv', '-z']
  const args = ['diff-tree', '--stdin', ...options, '--numstat']
  const from = { cwd: path, separator: '\0' as const, input, signal }
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
