/** Merge bases, ancestry and ranges of commits, which are given by their full ids. */

import { type Git, gitError, runGit, tryGit } from '../process/git.js'
import { fullId } from '../process/git-output.js'

/** Environment with which git reads the objects of a push that is not accepted yet. */
type Quarantine = Readonly<Record<string, string>> | undefined

/** Returns the first merge base of two commits; undefined if their histories are unrelated. */
export async function findMergeBase(
  git: Git,
  path: string,
  commits: readonly [string, string],
  quarantine?: Quarantine,
): Promise<string | undefined> {
  return (await listMergeBases(git, path, commits, quarantine))[0]
}

/** Lists the merge bases of two commits; there are several after criss-cross merges. */
export async function listMergeBases(
  git: Git,
  path: string,
  [one, other]: readonly [string, string],
  quarantine?: Quarantine,
): Promise<readonly string[]> {
  const args = ['merge-base', '--all', fullId(one), fullId(other)]
  const end = await tryGit(git, args, { cwd: path, environment: quarantine })
  if (end.exitCode === 0) return linesOf(end.output)
  if (end.exitCode === 1) return []
  throw gitError('merge-base', end)
}

/** Returns true if `older` is an ancestor of `younger` or the same commit. */
export async function isAncestor(
  git: Git,
  path: string,
  { older, younger }: { readonly older: string; readonly younger: string },
  quarantine?: Quarantine,
): Promise<boolean> {
  if (older === younger) return true
  const args = ['merge-base', '--is-ancestor', fullId(older), fullId(younger)]
  const end = await tryGit(git, args, { cwd: path, environment: quarantine })
  if (end.exitCode === 0 || end.exitCode === 1) return end.exitCode === 0
  throw gitError('merge-base', end)
}

/** Commits that are reachable from `to` and not from `from`. */
export interface CommitRange {
  readonly from: string
  readonly to: string
}

/** Lists the ids of a range, newest first: a page or all, with merges by default. */
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
  const range = [fullId(to), `^${fullId(from)}`]
  return linesOf(await runGit(git, ['rev-list', ...part, ...range], { cwd: path }))
}

/**
 * Lists up to `limit` commits that a change of a branch adds to it. A new branch adds those that no
 * other branch has.
 */
export async function listAddedCommits(
  git: Git,
  path: string,
  { before, after, limit }: { before: string | undefined; after: string; limit: number },
  quarantine?: Quarantine,
): Promise<readonly string[]> {
  const known = before === undefined ? ['--not', '--branches'] : [`^${fullId(before)}`]
  const args = ['rev-list', `--max-count=${limit}`, fullId(after), ...known]
  const end = await tryGit(git, args, { cwd: path, environment: quarantine })
  if (end.exitCode === 0) return linesOf(end.output)
  throw gitError('rev-list', end)
}

/** Counts the commits that only `to` has (`ahead`) and that only `from` has (`behind`). */
export async function countAheadBehind(
  git: Git,
  path: string,
  { from, to }: CommitRange,
): Promise<{ readonly ahead: number; readonly behind: number }> {
  const range = `${fullId(from)}...${fullId(to)}`
  const args = ['rev-list', '--count', '--left-right', range]
  const [behind = 0, ahead = 0] = (await runGit(git, args, { cwd: path }))
    .toString()
    .split('\t')
    .map(Number)
  return { ahead, behind }
}

/** Lists the newest commits that only one of the two commits reaches, without merges. */
export async function listDivergedCommits(
  git: Git,
  path: string,
  { from, to }: CommitRange,
): Promise<readonly string[]> {
  const range = `${fullId(from)}...${fullId(to)}`
  const args = ['rev-list', '--no-merges', `--max-count=${COMMITS_APART_MAX}`, range]
  return linesOf(await runGit(git, args, { cwd: path }))
}

const COMMITS_APART_MAX = 2_000

/**
 * Lists the commits that a rebase of `to` onto `from` would rewrite, oldest first. Merges are left
 * out, and so are commits whose change is in `from` already.
 */
export async function listCommitsToRebase(
  git: Git,
  path: string,
  { from, to }: CommitRange,
): Promise<readonly string[]> {
  const choice = ['--reverse', '--topo-order', '--no-merges', '--right-only', '--cherry-pick']
  const range = `${fullId(from)}...${fullId(to)}`
  return linesOf(await runGit(git, ['rev-list', ...choice, range], { cwd: path }))
}

function linesOf(output: Buffer): readonly string[] {
  return output.toString().split('\n').filter(Boolean)
}
