/** History of a commit: pages and counts of its ancestors, and the last commit of a path. */

import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { type Git, LITERAL_PATHS, runGit } from '../process/git.js'
import { fullId } from '../process/git-output.js'

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

/** Lists the ids of a page of the history, newest first. */
async function listHistory(
  git: Git,
  path: string,
  { offset, limit, ...input }: HistoryInput & { readonly offset: number; readonly limit: number },
): Promise<readonly string[]> {
  const part = [`--skip=${offset}`, `--max-count=${limit}`]
  const output = await revList(git, path, { part, input })
  return output.toString().split('\n').filter(Boolean)
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
  git: Git,
  path: string,
  { offset, limit, ...input }: HistoryInput & { readonly offset: number; readonly limit: number },
): Promise<HistoryPage> {
  const ids = await listHistory(git, path, { ...input, offset, limit })
  const isEnd = ids.length < limit && (ids.length > 0 || offset === 0)
  return {
    ids,
    total: async () => (isEnd ? offset + ids.length : countHistory(git, path, input)),
  }
}

/** Maximum number of cached counts, of somewhat over a hundred bytes each. */
const COUNTS_MAX = 10_000

/** Cached counts. They never expire, because the ancestors of a commit never change. */
const counts = new LRUCache<string, number>({ max: COUNTS_MAX })

async function countHistory(git: Git, path: string, input: HistoryInput): Promise<number> {
  const { from, not, file, sinceMs, untilMs } = input
  const key = createHash('sha256')
    .update(JSON.stringify([path, from, not, file, sinceMs, untilMs]))
    .digest('base64')
  const known = counts.get(key)
  if (known !== undefined) return known
  const count = Number((await revList(git, path, { part: ['--count'], input })).toString())
  counts.set(key, count)
  return count
}

/** Returns the id of the last commit that changed a path; undefined if there is none. */
export async function lastCommitOf(
  git: Git,
  path: string,
  { from, file, signal }: Pick<HistoryInput, 'from' | 'signal'> & { readonly file: string },
): Promise<string | undefined> {
  const [id] = await listHistory(git, path, { from, file, signal, offset: 0, limit: 1 })
  return id
}

function revList(
  git: Git,
  path: string,
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
