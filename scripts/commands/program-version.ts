/** Version of this program: that of its package, and the commit of its checkout. */

import { readFile, realpath } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { findGit, tryGit } from '../../cgi/process/git.js'
import { findProgramFile } from '../../conf/lib/program-file.js'

const PROGRAM_FOLDER = dirname(findProgramFile('package.json'))

/** Returns `gatehouse VERSION (COMMIT)`, without the commit if the folder is not a checkout. */
export async function programVersion(folder = PROGRAM_FOLDER): Promise<string> {
  const { version } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))
  const commit = await checkedOutCommit(folder)
  return commit === undefined ? `gatehouse ${version}` : `gatehouse ${version} (${commit})`
}

/**
 * Returns the abbreviated commit of the checkout whose top level is the folder; undefined if there
 * is none. A repository that merely contains the folder is ignored, because its commit is not the
 * version of this program.
 */
async function checkedOutCommit(folder: string): Promise<string | undefined> {
  const path = await realpath(folder)
  const git = await findGit().catch(() => undefined)
  if (git === undefined) return undefined
  const args = ['rev-parse', '--show-toplevel', '--short=12', 'HEAD']
  const { exitCode, output } = await tryGit(git, args, { cwd: path })
  const [topLevel, commit] = output.toString().split('\n')
  return exitCode === 0 && topLevel === path ? commit : undefined
}
