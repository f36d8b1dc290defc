/** A temporary repository beside another one; its new objects are invisible until they are kept. */

import { randomBytes } from 'node:crypto'
import { copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { syncPath } from '../../conf/disk.js'
import { type Git, gitEnvironment, runGit } from '../process/git.js'

/**
 * Lets `use` work in a repository of its own that reads the objects of the one at `path`, and of
 * those beside it, and writes elsewhere. It is removed afterwards; what a crash leaves of it, the
 * sweeper removes.
 */
export async function withTemporaryRepository<T>(
  path: string,
  use: (temporary: string) => Promise<T>,
  besides: readonly string[] = [],
): Promise<T> {
  const temporary = `${path}.new-${randomBytes(6).toString('hex')}`
  try {
    await mkdir(join(temporary, 'objects', 'info'), { recursive: true })
    await mkdir(join(temporary, 'refs'))
    await copyFile(join(path, 'HEAD'), join(temporary, 'HEAD'))
    const config = await readFile(join(path, 'config'), 'utf8')
    await writeFile(join(temporary, 'config'), config + TEMPORARY_CONFIG)
    const borrowed = join('..', '..', basename(path), 'objects')
    const folders = [borrowed, ...besides.map((each) => resolve(each, 'objects'))]
    await writeFile(join(temporary, 'objects', 'info', 'alternates'), `${folders.join('\n')}\n`)
    return await use(temporary)
  } finally {
    await rm(temporary, { recursive: true, force: true, maxRetries: 3 })
  }
}

/** What is kept is flushed when it is kept; renames are looked for within bounds. */
const TEMPORARY_CONFIG = `
[core]
	fsync = none
[merge]
	renameLimit = 1000
`

export interface KeptCommits {
  readonly temporary: string
  /** The newest of the commits that were made in the temporary repository. */
  readonly tip: string
  /** Commits of the repository from which they go on. */
  readonly known: readonly string[]
}

/** Moves the new objects into the repository at `path` as one pack, flushed to the disk. */
export async function keepCommits(
  git: Git,
  path: string,
  { temporary, tip, known }: KeptCommits,
): Promise<void> {
  const folder = join(path, 'objects', 'pack')
  await mkdir(folder, { recursive: true })
  await runGit(git, ['pack-objects', '--quiet', '--local', '--revs', join(folder, 'pack')], {
    cwd: temporary,
    input: [tip, ...known.map((id) => `^${id}`), ''].join('\n'),
    environment: gitEnvironment(git, { config: [['core.fsync', 'committed,pack-metadata']] }),
  })
  await syncPath(folder)
}
