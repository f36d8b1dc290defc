/** Pushes to repositories on other servers: all branches and tags. */

import type { Git } from '../process/git.js'
import { callRemote, type Remote, type RemoteBounds } from './remote.js'

const PUSH = [
  'push',
  '--quiet',
  '--prune',
  '--force',
  '--no-verify',
  '--no-signed',
  '--recurse-submodules=no',
  '--end-of-options',
]

/** Other refs, such as those of pull requests, are not for other servers, which may refuse them. */
const REFERENCES = ['refs/heads/*:refs/heads/*', 'refs/tags/*:refs/tags/*']

/**
 * Makes the branches and tags of the remote repository equal to those of the one at `path`: forces
 * changes, and deletes branches and tags that the latter lacks. Throws RemoteError, also if the
 * other server refuses one of them; the others are then changed.
 */
export async function pushAllRefs(
  git: Git,
  path: string,
  { remote, ...bounds }: RemoteBounds & { readonly remote: Remote },
): Promise<void> {
  const args = [...PUSH, remote.url.href, ...REFERENCES]
  await callRemote(git, remote, { ...bounds, path, isReadOnly: true, args })
}
