/** References from which a commit is reachable. */

import { withObjects } from '../objects/with-objects.js'
import { type Git, runGit } from '../process/git.js'
import { fullId } from '../process/git-output.js'

/** A reference by its full name, and the object that it points to. */
export interface KeepingReference {
  readonly name: string
  readonly id: string
}

/** Lists the references from which a commit is reachable; none if there is no such commit. */
export async function referencesTo(
  git: Git,
  path: string,
  commit: string,
): Promise<readonly KeepingReference[]> {
  const found = await withObjects(git, path, (objects) => objects.read(fullId(commit), 0))
  if (found?.type !== 'commit') return []
  const args = ['for-each-ref', `--contains=${found.id}`, '--format=%(objectname) %(refname)']
  const lines = (await runGit(git, args, { cwd: path })).toString().split('\n').filter(Boolean)
  return lines.map((line) => {
    const at = line.indexOf(' ')
    return { id: line.slice(0, at), name: line.slice(at + 1) }
  })
}
