/** Reachability of commits from the tips of refs, as git's protocol v0 checks it. */

import { type Git, tryGit } from '../process/git.js'
import { fullId } from '../process/git-output.js'

/** Object ids of one repository. */
export interface ReachabilityQuestion {
  readonly commits: readonly string[]
  readonly tips: readonly string[]
}

/** Result of a check; `unknown` if one of the objects is missing or is not a commit. */
export type Reachability =
  | { readonly kind: 'reachable' }
  | { readonly kind: 'unreachable'; readonly commit: string }
  | { readonly kind: 'unknown' }

/**
 * Checks if each commit is reachable from one of the tips. `unreachable` names one that is not. Git
 * stops at the oldest of the commits, and reads the history from the commit-graph.
 */
export async function checkReachability(
  git: Git,
  path: string,
  { commits, tips }: ReachabilityQuestion,
): Promise<Reachability> {
  // With --objects, an id that is not a commit is printed; the filter leaves out the trees.
  const args = ['rev-list', '--objects', '--filter=tree:0', '--max-count=1', '--stdin']
  const input = [...commits.map(fullId), ...tips.map((id) => `^${fullId(id)}`), ''].join('\n')
  const { exitCode, output } = await tryGit(git, args, { cwd: path, input })
  if (exitCode !== 0) return { kind: 'unknown' }
  const printed = output.toString().split('\n').filter(Boolean)
  if (printed.length === 0) return { kind: 'reachable' }
  const commit = printed.find((line) => commits.includes(line))
  return commit === undefined ? { kind: 'unknown' } : { kind: 'unreachable', commit }
}
