/** The line of first parents of a commit: the former tips of a branch that only moves forward. */

import { type Git, tryGit } from '../process/git.js'
import { fullId } from '../process/git-output.js'

/**
 * Returns the ids of a commit and of the first parents below it, at most `count` in all; none if
 * the commit is missing. Replaced objects are not followed: clients do not have the replacements.
 */
export async function firstParentsOf(
  git: Git,
  path: string,
  { tip, count }: { readonly tip: string; readonly count: number },
): Promise<readonly string[]> {
  const args = ['rev-list', '--first-parent', `--max-count=${count}`, fullId(tip), '--']
  const environment = { GIT_NO_REPLACE_OBJECTS: '1' }
  const { exitCode, output } = await tryGit(git, args, { cwd: path, environment })
  return exitCode === 0 ? output.toString().split('\n').filter(Boolean) : []
}
