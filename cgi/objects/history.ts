/** The commits that led to a commit: a part of them, how many, and the last that changed a path. */

import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { type Git, runGit } from '../process/git.js'
import { fullId } from '../process/git-output.js'

/** Which commits are meant; all that led to `from` unless it says more. */
export interface HistoryInput {
  /** The full id of the youngest. */
  readonly from: string
  /** Without those that led to this one. */
  readonly not?: string | undefined
  /** Those alone that changed what is at this path, which is taken to the letter. */
  readonly file?: string | undefined
  readonly sinceMs?: number | undefined
  readonly untilMs?: number | undefined
  readonly signal?: AbortSignal | undefined
}

/** The ids of a part of them, the newest first. */
async function listHistory(
  git: Git,
  path: string,
  { offset, limit, ...input }: HistoryInput & { readonly offset: number; readonly limit: number },
): Promise<readonly string[]> {
  const part = [`--skip=${offset}`, `--max-count=${limit}`]
  const output = await revList(git, path, { part, input })
  return output.toString().split('\n').filter(Boolean)
}

/** A part of a history, and how to learn the length of the whole. */
export interface HistoryPage {
  /** Full ids, the newest first. */
  readonly ids: readonly string[]
  /** How many commits the whole has. It may have to be walked, while the part is worked on. */
  total(): Promise<number>
}

/** A part of them. The length of the whole follows from the part where that reaches its end. */
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

/** Lengths that are remembered: a hundred and some bytes each. */
const COUNTS_MAX = 10_000

/** The history that led to a commit never changes, so neither does its length. */
const counts = new LRUCache<string, number>({ max: COUNTS_MAX })

/** How many they are. */
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

/** The commit that last changed what is at a path, where there is one. */
export async function lastCommitOf(
  git: Git,
  path: string,
  { from, file, signal }: Pick<HistoryInput, 'from' | 'signal'> & { readonly file: string },
): Promise<string | undefined> {
  const [id] = await listHistory(git, path, { from, file, signal, offset: 0, limit: 1 })
  return id
}

const LITERAL = { GIT_LITERAL_PATHSPECS: '1' }

function revList(
  git: Git,
  path: string,
  { part, input }: { readonly part: readonly string[]; readonly input: HistoryInput },
): Promise<Buffer> {
  const { signal } = input
  return runGit(git, revListArgs(part, input), { cwd: path, signal, environment: LITERAL })
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
