/** Temporary repositories that read the objects of another one and write their own separately. */

import { randomBytes } from 'node:crypto'
import { copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { syncPath } from '../../conf/lib/disk.js'
import { type Git, gitEnvironment, runGit } from '../process/git.js'

/**
 * Runs `use` with a temporary repository that reads the objects of the one at `path`, and of those
 * in `besides`, and writes to a separate object directory. Removes it afterwards; after a crash,
 * the sweeper does.
 */
export async function withTemporaryRepository<T>(
  path: string,
  use: (temporary: string) => Promise<T>,
  besides: readonly string[] = [],
): Promise<T> {
  const { path: temporary, remove } = await createTemporaryRepository(path, besides)
  try {
    return await use(temporary)
  } finally {
    await remove()
  }
}

export interface TemporaryRepository {
  readonly path: string
  remove(): Promise<void>
}

/** Creates a temporary repository as `withTemporaryRepository` does; the caller removes it. */
export async function createTemporaryRepository(
  path: string,
  besides: readonly string[] = [],
): Promise<TemporaryRepository> {
  const temporary = `${path}.new-${randomBytes(6).toString('hex')}`
  const remove = () => rm(temporary, { recursive: true, force: true, maxRetries: 3 })
  try {
    await mkdir(join(temporary, 'objects', 'info'), { recursive: true })
    await mkdir(join(temporary, 'refs'))
    await copyFile(join(path, 'HEAD'), join(temporary, 'HEAD'))
    const config = await readFile(join(path, 'config'), 'utf8')
    await writeFile(join(temporary, 'config'), config + TEMPORARY_CONFIG)
    const borrowed = join('..', '..', basename(path), 'objects')
    const folders = [borrowed, ...besides.map((each) => resolve(each, 'objects'))]
    await writeFile(join(temporary, 'objects', 'info', 'alternates'), `${folders.join('\n')}\n`)
    return { path: temporary, remove }
  } catch (error) {
    await remove()
    throw error
  }
}

/** Settings of temporary repositories. `keepCommits` flushes, so git need not. */
const TEMPORARY_CONFIG = `
[core]
	fsync = none
[merge]
	renameLimit = 1000
`

export interface KeptCommits {
  readonly temporary: string
  /** Newest of the commits that were created in the temporary repository. */
  readonly tip: string
  /** Commits of the repository on which the new commits are based. */
  readonly known: readonly string[]
}

/** Writes the new objects into the repository at `path` as one pack, flushed to disk. */
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
