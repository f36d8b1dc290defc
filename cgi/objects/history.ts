/** History of a commit: pages and counts of its ancestors, and the last commit of a path. */

import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { entriesUpTo } from '../../conf/lib/entries-up-to.js'
import { LITERAL_PATHS, runGit } from '../process/git.js'
import { fullId } from '../process/git-output.js'
import { hasGrafts } from '../repository/repository-state.js'
import type { Repository } from './commit-changes.js'
import type { GraphCommit } from './commit-graph-file.js'
import { type CommitSource, openCommits } from './commit-source.js'
import { findAncestor, walkHistory, walkToChange } from './history-walk.js'

/** Selection of commits: `from` and its ancestors, restricted by the other fields. */
export interface HistoryInput {
  /** Full id of the newest commit. */
  readonly from: string
  /** Full id of a commit that is left out together with its ancestors. */
  readonly not?: string | undefined
  /** Literal path; only commits that changed it or something below it are included. */
  readonly file?: string | undefined
  readonly sinceMs?: number | undefined
  readonly untilMs?: number | undefined
  readonly signal?: AbortSignal | undefined
}

interface Part {
  readonly offset: number
  readonly limit: number
}

/** Maximum number of commits to walk for a page, which are read for the reply anyway. */
const WALKED_MAX = 100
/** The same if most of them are in the commit-graph. */
const WALKED_IN_GRAPH_MAX = 1_000

/** Approximate memory of the cached pages. */
const PAGES_BYTES_MAX = 4_194_304

/** Maximum number of cached counts and last commits, of somewhat over a hundred bytes each. */
const COUNTS_MAX = 10_000

// These never expire, because the ancestors of a commit never change. Callers have read the commit.
const pages = new LRUCache<string, readonly string[]>({
  maxSize: PAGES_BYTES_MAX,
  sizeCalculation: (ids) => 200 + 100 * ids.length,
})
const counts = new LRUCache<string, number>(entriesUpTo(COUNTS_MAX))
const lastIds = new LRUCache<string, string>(entriesUpTo(COUNTS_MAX))

/** Lists the ids of a page of the history, newest first. */
async function listHistory(
  repository: Repository,
  { offset, limit, ...input }: HistoryInput & Part,
): Promise<readonly string[]> {
  const { path } = repository
  const key = keyOf(path, input, [offset, limit])
  const known = pages.get(key)
  if (known !== undefined) return known
  const walked = await walkPage(repository, input, offset + limit)
  const ids =
    walked?.slice(offset).map(({ id }) => id) ??
    (await listByGit(repository, { ...input, offset, limit }))
  pages.set(key, ids)
  return ids
}

async function listByGit(
  repository: Repository,
  { offset, limit, ...input }: HistoryInput & Part,
): Promise<readonly string[]> {
  const part = [`--skip=${offset}`, `--max-count=${limit}`]
  const output = await revList(repository, { part, input })
  return output.toString().split('\n').filter(Boolean)
}

/** Walks the first commits of a history; undefined if git must list them. */
async function walkPage(
  repository: Repository,
  input: HistoryInput,
  count: number,
): Promise<readonly GraphCommit[] | undefined> {
  const { not } = input
  const from = fullId(input.from)
  const source = await openWalkable(repository, input)
  if (source === undefined || count > WALKED_IN_GRAPH_MAX) return undefined
  if (not === undefined) {
    return source.hasGraph || count <= WALKED_MAX ? walkHistory(source, from, count) : undefined
  }
  const excluded = await source.ancestorsOf(fullId(not))
  return excluded && walkHistory(source, from, count, excluded)
}

/**
 * Opens the commits of a repository; undefined if git must read their parents, or if the input
 * selects commits by other fields than their ancestors.
 */
async function openWalkable(
  { path, objects }: Repository,
  { file, sinceMs, untilMs }: Partial<HistoryInput> = {},
): Promise<CommitSource | undefined> {
  const isSelected = [file, sinceMs, untilMs].some((value) => value !== undefined)
  return isSelected || hasGrafts(path) ? undefined : await openCommits(path, objects)
}

/** A page of a history. */
export interface HistoryPage {
  /** Full ids, newest first. */
  readonly ids: readonly string[]
  /** Counts the commits of the whole history, which may take a second walk. */
  total(): Promise<number>
}

/** Reads a page of a history. Counting needs no second walk if the page reaches the end. */
export async function pageOfHistory(
  repository: Repository,
  { offset, limit, ...input }: HistoryInput & Part,
): Promise<HistoryPage> {
  const ids = await listHistory(repository, { ...input, offset, limit })
  const isEnd = ids.length < limit && (ids.length > 0 || offset === 0)
  return {
    ids,
    total: async () => (isEnd ? offset + ids.length : countHistory(repository, input)),
  }
}

function keyOf(
  path: string,
  { from, not, file, sinceMs, untilMs }: HistoryInput,
  part: readonly number[] = [],
): string {
  return createHash('sha256')
    .update(JSON.stringify([path, from, not, file, sinceMs, untilMs, ...part]))
    .digest('base64')
}

async function countHistory(repository: Repository, input: HistoryInput): Promise<number> {
  const { path } = repository
  const key = keyOf(path, input)
  const known = counts.get(key)
  if (known !== undefined) return known
  const source = await openWalkable(repository, input)
  const fromAncestor = source && (await countFromAncestor(repository, source, input))
  const count = fromAncestor ?? (await countAnew(repository, source, input))
  counts.set(key, count)
  return count
}

/** Counts in the commit-graph, or else by git. */
async function countAnew(
  repository: Repository,
  source: CommitSource | undefined,
  input: HistoryInput,
): Promise<number> {
  const { from, not } = input
  const excluded = not === undefined ? undefined : await source?.ancestorsOf(not)
  const isWalked = not === undefined || excluded !== undefined
  const walked = isWalked ? await source?.ancestorsOf(from, excluded) : undefined
  return walked?.count ?? (await countByGit(repository, input))
}

/** Counts from an ancestor whose count is known, as after a push; undefined if there is none. */
async function countFromAncestor(
  repository: Repository,
  source: CommitSource,
  { from, not, signal }: HistoryInput,
): Promise<number | undefined> {
  if (not !== undefined) return undefined
  const { path } = repository
  const found = await findAncestor(source, from, (id) => counts.get(keyOf(path, { from: id })))
  if (found === undefined) return undefined
  const { id, known, younger } = found
  // Without merges, there are no other commits in between.
  if (younger.every(({ parents }) => parents.length === 1)) return known + younger.length
  return known + (await countAnew(repository, source, { from, not: id, signal }))
}

async function countByGit(repository: Repository, input: HistoryInput): Promise<number> {
  return Number((await revList(repository, { part: ['--count'], input })).toString())
}

/** Returns the id of the last commit that changed a path; undefined if there is none. */
export async function lastCommitOf(
  repository: Repository,
  { from, file, signal }: Pick<HistoryInput, 'from' | 'signal'> & { readonly file: string },
): Promise<string | undefined> {
  const { path, objects } = repository
  const key = keyOf(path, { from, file })
  const known = lastIds.get(key)
  if (known !== undefined) return known
  const segments = file.split('/')
  const source = await openWalkable(repository)
  const walked = source && (await walkToChange({ objects, source }, { from, segments }))
  const id =
    walked ?? (await listHistory(repository, { from, file, signal, offset: 0, limit: 1 }))[0]
  if (id !== undefined) lastIds.set(key, id)
  return id
}

function revList(
  { git, path }: Repository,
  { part, input }: { readonly part: readonly string[]; readonly input: HistoryInput },
): Promise<Buffer> {
  const { signal } = input
  return runGit(git, revListArgs(part, input), { cwd: path, signal, environment: LITERAL_PATHS })
}

function revListArgs(
  part: readonly string[],
  { from, not, file, sinceMs, untilMs }: HistoryInput,
): readonly string[] {
  const seconds = (timeMs: number) => Math.floor(timeMs / 1_000)
  const times = [
    ...(sinceMs === undefined ? [] : [`--max-age=${seconds(sinceMs)}`]),
    ...(untilMs === undefined ? [] : [`--min-age=${seconds(untilMs)}`]),
  ]
  const ids = [fullId(from), ...(not === undefined ? [] : [`^${fullId(not)}`])]
  return ['rev-list', ...part, ...times, ...ids, '--', ...(file === undefined ? [] : [file])]
}
