/** How two commits, told by their full ids, stand to one another, and which lie between them. */

import { type Git, gitError, runGit, tryGit } from '../process/git.js'

/** Variables with which git sees the objects of a push that is not taken yet. */
type Quarantine = Readonly<Record<string, string>> | undefined

/** The newest commit that both have in their history, where there is one. */
export async function findMergeBase(
  git: Git,
  path: string,
  commits: readonly [string, string],
  quarantine?: Quarantine,
): Promise<string | undefined> {
  return (await listMergeBases(git, path, commits, quarantine))[0]
}

/** All common ancestors that are no ancestor of another one: several after criss-cross merges. */
export async function listMergeBases(
  git: Git,
  path: string,
  [one, other]: readonly [string, string],
  quarantine?: Quarantine,
): Promise<readonly string[]> {
  const args = ['merge-base', '--all', checkedId(one), checkedId(other)]
  const end = await tryGit(git, args, { cwd: path, environment: quarantine })
  if (end.exitCode === 0) return linesOf(end.output)
  if (end.exitCode === 1) return []
  throw gitError('merge-base', end)
}

/** Whether the history of `younger` has `older` in it, or is it. */
export async function isAncestor(
  git: Git,
  path: string,
  { older, younger }: { readonly older: string; readonly younger: string },
  quarantine?: Quarantine,
): Promise<boolean> {
  if (older === younger) return true
  const args = ['merge-base', '--is-ancestor', checkedId(older), checkedId(younger)]
  const end = await tryGit(git, args, { cwd: path, environment: quarantine })
  if (end.exitCode === 0 || end.exitCode === 1) return end.exitCode === 0
  throw gitError('merge-base', end)
}

/** What the history of `to` has beyond that of `from`. */
export interface CommitRange {
  readonly from: string
  readonly to: string
}

/** Ids of the commits, newest first; all of them, or a part; with merges unless told otherwise. */
export async function listCommits(
  git: Git,
  path: string,
  {
    from,
    to,
    offset = 0,
    limit,
    hasMerges = true,
  }: CommitRange & {
    readonly offset?: number
    readonly limit?: number
    readonly hasMerges?: boolean
  },
): Promise<readonly string[]> {
  const part = [
    `--skip=${offset}`,
    ...(limit === undefined ? [] : [`--max-count=${limit}`]),
    ...(hasMerges ? [] : ['--no-merges']),
  ]
  const range = [checkedId(to), `^${checkedId(from)}`]
  return linesOf(await runGit(git, ['rev-list', ...part, ...range], { cwd: path }))
}

/** How many commits each of the two has that the other has not. */
export async function countAheadBehind(
  git: Git,
  path: string,
  { from, to }: CommitRange,
): Promise<{ readonly ahead: number; readonly behind: number }> {
  const range = `${checkedId(from)}...${checkedId(to)}`
  const args = ['rev-list', '--count', '--left-right', range]
  const [behind = 0, ahead = 0] = (await runGit(git, args, { cwd: path }))
    .toString()
    .split('\t')
    .map(Number)
  return { ahead, behind }
}

/** The newest commits that one of the two has and the other has not, without merges. */
export async function listDivergedCommits(
  git: Git,
  path: string,
  { from, to }: CommitRange,
): Promise<readonly string[]> {
  const range = `${checkedId(from)}...${checkedId(to)}`
  const args = ['rev-list', '--no-merges', `--max-count=${COMMITS_APART_MAX}`, range]
  return linesOf(await runGit(git, args, { cwd: path }))
}

const COMMITS_APART_MAX = 2_000

/**
 * The commits that a rebase of `to` onto `from` would make anew, oldest first: no merges, and none
 * whose change is in `from` already.
 */
export async function listCommitsToRebase(
  git: Git,
  path: string,
  { from, to }: CommitRange,
): Promise<readonly string[]> {
  const choice = ['--reverse', '--topo-order', '--no-merges', '--right-only', '--cherry-pick']
  const range = `${checkedId(from)}...${checkedId(to)}`
  return linesOf(await runGit(git, ['rev-list', ...choice, range], { cwd: path }))
}

/** Throws where the text is not the full id of an object: a bug of the caller's. */
export function checkedId(text: string): string {
  if (/^[0-9a-f]{40}(?:[0-9a-f]{24})?$/.test(text)) return text
  throw new Error('a commit is told by its full id')
}

function linesOf(output: Buffer): readonly string[] {
  return output.toString().split('\n').filter(Boolean)
}
