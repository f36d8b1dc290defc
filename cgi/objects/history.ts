/** History of a commit: pages and counts of its ancestors, and the last commit of a path. */

import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { entriesUpTo } from '../../conf/lib/entries-up-to.js'
import { LITERAL_PATHS, runGit } from '../process/git.js'
import { fullId } from '../process/git-output.js'
import type { Repository } from './commit-changes.js'
import type { GraphCommit } from './commit-graph-file.js'
import { type Ancestors, type CommitSource, openCommits } from './commit-source.js'
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

/** Commits of a history that can be walked, and those that it leaves out. */
interface Walk {
  readonly source: CommitSource
  readonly excluded: Ancestors | undefined
}

/** Opens the walk of a history when it is needed; undefined if git must read the history. */
type OpenWalk = () => Promise<Walk | undefined>

/** Lists the ids of a page of the history, newest first. */
async function listHistory(
  repository: Repository,
  open: OpenWalk,
  { offset, limit, ...input }: HistoryInput & Part,
): Promise<readonly string[]> {
  const { path } = repository
  const key = keyOf(path, input, [offset, limit])
  const known = pages.get(key)
  if (known !== undefined) return known
  const walked = await walkPage(open, fullId(input.from), offset + limit)
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
  open: OpenWalk,
  from: string,
  count: number,
): Promise<readonly GraphCommit[] | undefined> {
  if (count > WALKED_IN_GRAPH_MAX) return undefined
  const walk = await open()
  if (walk === undefined || (!walk.source.hasGraph && count > WALKED_MAX)) return undefined
  return await walkHistory(walk.source, from, count, walk.excluded)
}

/**
 * Opens a history. Returns undefined if git must read its parents, or select its commits by other
 * fields than their ancestors.
 */
async function openWalk(
  { path, objects }: Repository,
  { not, file, sinceMs, untilMs }: HistoryInput,
): Promise<Walk | undefined> {
  if ([file, sinceMs, untilMs].some((value) => value !== undefined)) return undefined
  const source = await openCommits(path, objects)
  if (source === undefined || not === undefined) return source && { source, excluded: undefined }
  const excluded = await source.ancestorsOf(fullId(not))
  return excluded && { source, excluded }
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
  let opened: Promise<Walk | undefined> | undefined
  const open: OpenWalk = () => {
    opened ??= openWalk(repository, input)
    return opened
  }
  const ids = await listHistory(repository, open, { ...input, offset, limit })
  const isEnd = ids.length < limit && (ids.length > 0 || offset === 0)
  return {
    ids,
    total: async () => (isEnd ? offset + ids.length : countHistory(repository, open, input)),
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

async function countHistory(
  repository: Repository,
  open: OpenWalk,
  input: HistoryInput,
): Promise<number> {
  const { path } = repository
  const key = keyOf(path, input)
  const known = counts.get(key)
  if (known !== undefined) return known
  const walk = await open()
  const fromAncestor = walk && (await countFromAncestor(repository, walk, input))
  const count = fromAncestor ?? (await countAnew(repository, walk, input))
  counts.set(key, count)
  return count
}

/** Counts in the commit-graph, or else by git. */
async function countAnew(
  repository: Repository,
  walk: Walk | undefined,
  input: HistoryInput,
): Promise<number> {
  const walked = await walk?.source.ancestorsOf(input.from, walk.excluded)
  return walked?.count ?? (await countByGit(repository, input))
}

/** Counts from an ancestor whose count is known, as after a push; undefined if there is none. */
async function countFromAncestor(
  repository: Repository,
  { source }: Walk,
  { from, not, signal }: HistoryInput,
): Promise<number | undefined> {
  if (not !== undefined) return undefined
  const { path } = repository
  const found = await findAncestor(source, from, (id) => counts.get(keyOf(path, { from: id })))
  if (found === undefined) return undefined
  const { id, known, younger } = found
  // Without merges, there are no other commits in between.
  if (younger.every(({ parents }) => parents.length === 1)) return known + younger.length
  const between = { from, not: id, signal }
  return known + (await countAnew(repository, await openWalk(repository, between), between))
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
  const source = await openCommits(path, objects)
  const walked = source && (await walkToChange({ objects, source }, { from, segments }))
  const id = walked ?? (await listByGit(repository, { from, file, signal, offset: 0, limit: 1 }))[0]
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
