/** The commits that led to a commit: a part of them, how many, and the last that changed a path. */

import { type Git, runGit } from './git.js'
import { fullId, gitRecords } from './git-output.js'

/** Which commits are meant; all that led to `from` unless it says more. */
export interface HistoryWish {
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
  { offset, limit, ...wish }: HistoryWish & { readonly offset: number; readonly limit: number },
): Promise<readonly string[]> {
  const part = [`--skip=${offset}`, `--max-count=${limit}`]
  const output = await revList(git, path, { part, wish })
  return output.toString().split('\n').filter(Boolean)
}

/** A part of those that changed a path, and how many they are: one walk finds both. */
export async function pageOfHistory(
  git: Git,
  path: string,
  { offset, limit, ...wish }: HistoryWish & { readonly offset: number; readonly limit: number },
): Promise<{ readonly ids: readonly string[]; readonly total: number }> {
  if (wish.file === undefined) {
    const [ids, total] = await Promise.all([
      listHistory(git, path, { ...wish, offset, limit }),
      countHistory(git, path, wish),
    ])
    return { ids, total }
  }
  const ids: string[] = []
  let total = 0
  const { signal } = wish
  const options = { cwd: path, separator: '\n', environment: LITERAL, signal } as const
  for await (const id of gitRecords(git, revListArgs([], wish), options)) {
    if (total >= offset && ids.length < limit) ids.push(id)
    total += 1
  }
  return { ids, total }
}

/** How many they are. */
async function countHistory(git: Git, path: string, wish: HistoryWish): Promise<number> {
  return Number((await revList(git, path, { part: ['--count'], wish })).toString())
}

/** The commit that last changed what is at a path, where there is one. */
export async function lastCommitOf(
  git: Git,
  path: string,
  { from, file, signal }: Pick<HistoryWish, 'from' | 'signal'> & { readonly file: string },
): Promise<string | undefined> {
  const [id] = await listHistory(git, path, { from, file, signal, offset: 0, limit: 1 })
  return id
}

const LITERAL = { GIT_LITERAL_PATHSPECS: '1' }

function revList(
  git: Git,
  path: string,
  { part, wish }: { readonly part: readonly string[]; readonly wish: HistoryWish },
): Promise<Buffer> {
  const { signal } = wish
  return runGit(git, revListArgs(part, wish), { cwd: path, signal, environment: LITERAL })
}

function revListArgs(
  part: readonly string[],
  { from, not, file, sinceMs, untilMs }: HistoryWish,
): readonly string[] {
  const seconds = (timeMs: number) => Math.floor(timeMs / 1_000)
  const times = [
    ...(sinceMs === undefined ? [] : [`--max-age=${seconds(sinceMs)}`]),
    ...(untilMs === undefined ? [] : [`--min-age=${seconds(untilMs)}`]),
  ]
  const ids = [fullId(from), ...(not === undefined ? [] : [`^${fullId(not)}`])]
  return ['rev-list', ...part, ...times, ...ids, '--', ...(file === undefined ? [] : [file])]
}
