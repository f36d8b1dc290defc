/** The program of the previous release, built from the history of this clone. */

import { execFile } from 'node:child_process'
import { mkdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { git, tryGit } from './git-client.js'
import { temporaryFolder } from './temporary.js'

const run = promisify(execFile)
const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const MIGRATIONS = 'sql/migrations/[0-9]*.ts'

/** Options for git because the checkout may belong to another user than the tests' one. */
const ANY_OWNER = ['-c', 'safe.directory=*']

interface Teardown {
  teardown(action: () => Promise<unknown>): void
}

/** Compiles the program of a commit with the packages of this clone; returns its path. */
export async function buildProgramOf(t: Teardown, commit: string): Promise<string> {
  const folder = await temporaryFolder(t)
  const archive = join(folder, 'program.tar')
  const source = join(folder, 'source')
  await mkdir(source)
  await git([...ANY_OWNER, 'archive', `--output=${archive}`, commit], { cwd: ROOT })
  await run('tar', ['--extract', `--file=${archive}`, `--directory=${source}`])
  await symlink(join(ROOT, 'node_modules'), join(source, 'node_modules'))
  await run('scripts/build', ['program'], { cwd: source })
  return join(source, 'dist/program/gatehouse.js')
}

/**
 * Returns the commit of the newest release that lacks the newest migration. If no tag names such a
 * release, it is the commit before that migration; undefined if the checkout has no such history,
 * as on some test machines.
 */
export async function findPreviousCommit(): Promise<string | undefined> {
  const added = await linesOf('log', '--format=%H', '--diff-filter=A', '--', MIGRATIONS)
  const [newest = '', ...earlier] = added
  if (earlier.length === 0) return undefined
  const lacking = ['--no-contains', newest, '--merged', 'HEAD']
  const [tag] = await linesOf('tag', '--list', 'v*', ...lacking, '--sort=-version:refname')
  const [commit] = await linesOf('rev-parse', tag ?? `${newest}^`)
  return commit
}

/** Returns the lines that git prints; none if it fails. */
async function linesOf(...args: readonly string[]): Promise<readonly string[]> {
  const { output } = await tryGit([...ANY_OWNER, ...args], { cwd: ROOT })
  return output.split('\n').filter((line) => line !== '')
}
