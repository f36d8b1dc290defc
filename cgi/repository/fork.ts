/** Complete copies of repositories, which share no files with their sources. */

import { randomBytes } from 'node:crypto'
import { mkdir, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { syncPath } from '../../conf/lib/disk.js'
import { type Git, gitEnvironment, gitError, runGit, runGitToEnd } from '../process/git.js'
import { GIT_OUTPUT_BYTES_MAX, REPOSITORY_COPY_MS } from '../process/git-limits.js'
import { syncTree } from './durable.js'
import { writeMarker } from './marker.js'
import type { RepositoryOptions } from './repository.js'

/**
 * Refs of a clone. Objects that no branch or tag reaches are not copied, so deleted and hidden
 * commits are left out. Objects are not shared by alternates, because a client that can fetch from
 * a repository can fetch any object of its store, or of its alternates, by id.
 */
const REFERENCES = ['+refs/heads/*:refs/heads/*', '+refs/tags/*:refs/tags/*']

/** Settings for a fetch from a local path, whose objects were checked when they were pushed. */
const CONFIG = [['fetch.fsckObjects', 'false'] as const, ['protocol.file.allow', 'always'] as const]

export interface ForkOptions extends RepositoryOptions {
  /** The bare repository that is copied. */
  readonly source: string
  readonly signal?: AbortSignal | undefined
}

/** Creates the copy at `path`. It exists only if it is complete and flushed to disk. */
export async function forkRepository(git: Git, path: string, options: ForkOptions): Promise<void> {
  const { source, defaultBranch, objectFormat, marker, signal } = options
  const parent = dirname(path)
  const unfinished = `${path}.new-${randomBytes(6).toString('hex')}`
  const firstMade = await mkdir(parent, { recursive: true })
  try {
    const choices = [`--initial-branch=${defaultBranch}`, `--object-format=${objectFormat}`]
    await runGit(git, ['init', '--quiet', '--bare', '--template=', ...choices, unfinished], {
      cwd: parent,
    })
    const words = ['fetch', '--quiet', '--no-write-fetch-head', '--no-tags', '--end-of-options']
    const end = await runGitToEnd(git, 'fetch', [...words, source, ...REFERENCES], {
      cwd: unfinished,
      environment: gitEnvironment(git, { config: CONFIG }),
      timeoutMs: REPOSITORY_COPY_MS,
      outputBytesMax: GIT_OUTPUT_BYTES_MAX,
      signal,
    })
    if (end.exitCode !== 0) throw gitError('fetch', end)
    if (marker !== undefined) await writeMarker(unfinished, marker)
    await syncTree(unfinished)
    await rename(unfinished, path)
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true, maxRetries: 3 })
    throw error
  }
  await syncPath(parent)
  if (firstMade !== undefined) await syncPath(dirname(parent))
}
