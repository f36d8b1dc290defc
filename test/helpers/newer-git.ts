/** A git with support for bundle URIs: the system's, or the one that scripts/newer-git unpacks. */

import { dirname, join } from 'node:path'
import { findGit, type Git } from '../../cgi/process/git.js'
import { installProgram } from './programs.js'

/** Finds the git, which is installed if the system's is older. Throws if that fails. */
export async function findNewerGit(): Promise<Git> {
  const ours = await findGit()
  const [major, minor] = ours.version
  if (major > 2 || minor >= 40) return ours
  return await findGit([join(await installProgram('newer-git'), 'usr/bin')])
}

/** Returns the environment in which a client runs this git. */
export function pathOf(git: Git): Record<string, string> {
  return { PATH: `${dirname(git.file)}:${process.env['PATH'] ?? '/usr/bin:/bin'}` }
}
