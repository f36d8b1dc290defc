/** Reachability of commits from the tips of refs, as git's protocol v0 checks it. */

import { type Git, tryGit } from '../process/git.js'
import { fullId } from '../process/git-output.js'

/** Object ids of one repository. */
export interface ReachabilityQuestion {
  readonly commits: readonly string[]
  readonly tips: readonly string[]
}

/** Result of a check; `unknown` if one of the objects is missing, or is a tree or a file. */
export type Reachability =
  | { readonly kind: 'reachable' }
  | { readonly kind: 'unreachable'; readonly commit: string }
  | { readonly kind: 'unknown' }

/**
 * Checks if each commit is reachable from one of the tips. `unreachable` names one that is not; a
 * tag of such a commit is not either. Git stops at the oldest of the commits, and reads the history
 * from the commit-graph.
 */
export async function checkReachability(
  git: Git,
  path: string,
  { commits, tips }: ReachabilityQuestion,
): Promise<Reachability> {
  // With --objects, ids that are not commits are printed as well, followed by a space. The filter
  // leaves out the trees of commits.
  const args = ['rev-list', '--objects', '--filter=tree:0', '--max-count=1', '--stdin']
  const input = [...commits.map(fullId), ...tips.map((id) => `^${fullId(id)}`), ''].join('\n')
  const { exitCode, output } = await tryGit(git, args, { cwd: path, input })
  if (exitCode !== 0) return { kind: 'unknown' }
  const printed = output.toString().split('\n').filter(Boolean)
  if (printed.length === 0) return { kind: 'reachable' }
  const [commit] = printed.filter((line) => !line.includes(' '))
  if (commit === undefined) return { kind: 'unknown' }
  const wanted = commits.includes(commit) ? commit : commits[0]
  return { kind: 'unreachable', commit: wanted ?? commit }
}
