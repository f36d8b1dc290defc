/** The program of the previous release, built from the history of this clone. */

import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rename, rm, symlink } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { git, tryGit } from './git-client.js'

const run = promisify(execFile)
const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
/** Folder of compiled programs, beside those that `scripts/test` installs. */
const KEPT = join(ROOT, '.programs/previous-program')
const MIGRATIONS = 'sql/migrations/[0-9]*.ts'

/** Options for git because the checkout may belong to another user than the tests' one. */
const ANY_OWNER = ['-c', 'safe.directory=*']

/**
 * Returns the path of the program of a commit. It is compiled with the packages of this clone and
 * kept for later runs, in place of that of an earlier commit.
 */
export async function buildProgramOf(commit: string): Promise<string> {
  const kept = join(KEPT, commit)
  if (!existsSync(kept)) {
    await mkdir(KEPT, { recursive: true })
    const source = await mkdtemp(join(KEPT, 'new-'))
    await compileInto(source, commit)
    for (const name of await readdir(KEPT)) {
      if (name !== basename(source)) await rm(join(KEPT, name), { recursive: true, force: true })
    }
    await rename(source, kept)
  }
  return join(kept, 'dist/program/gatehouse.js')
}

async function compileInto(source: string, commit: string): Promise<void> {
  const archive = join(source, 'program.tar')
  await git([...ANY_OWNER, 'archive', `--output=${archive}`, commit], { cwd: ROOT })
  await run('tar', ['--extract', `--file=${archive}`, `--directory=${source}`])
  await rm(archive)
  await symlink(join(ROOT, 'node_modules'), join(source, 'node_modules'))
  await run('scripts/build', ['program'], { cwd: source })
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
