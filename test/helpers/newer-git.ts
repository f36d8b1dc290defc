/** A git with support for bundle URIs: the system's, or the one that scripts/newer-git unpacks. */

import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findGit, type Git } from '../../cgi/process/git.js'

const FOLDER = fileURLToPath(new URL('../../../.programs/newer-git/usr/bin', import.meta.url))

/** Finds the git. Throws if there is none; ./scripts/newer-git installs it. */
export async function findNewerGit(): Promise<Git> {
  const ours = await findGit()
  const [major, minor] = ours.version
  return major > 2 || minor >= 40 ? ours : findGit([FOLDER])
}

/** Returns the environment in which a client runs this git. */
export function pathOf(git: Git): Record<string, string> {
  return { PATH: `${dirname(git.file)}:${process.env['PATH'] ?? '/usr/bin:/bin'}` }
}
