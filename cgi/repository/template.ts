/** New repositories with the current files of another one, without its history. */

import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import type { Signature } from '../objects/commit-object.js'
import { writeCommit } from '../objects/write-objects.js'
import { type Git, gitEnvironment, gitError, runGit, runGitToEnd } from '../process/git.js'
import { GIT_OUTPUT_BYTES_MAX, REPOSITORY_COPY_MS } from '../process/git-limits.js'
import { initRepository, type RepositoryOptions } from './repository.js'

export interface TemplateOptions extends Omit<RepositoryOptions, 'fill'> {
  /** The bare repository that has the tree. */
  readonly source: string
  /** Id of the tree that becomes the content. */
  readonly tree: string
  readonly author: Signature
  readonly message: string
  readonly signal: AbortSignal
}

/**
 * Creates a repository at `path` whose default branch has one commit of the tree. It contains the
 * objects of the tree and no others. It exists only if it is complete and flushed to disk.
 */
export async function generateRepository(
  git: Git,
  path: string,
  options: TemplateOptions,
): Promise<void> {
  const { defaultBranch, objectFormat, marker, tree, author, message } = options
  await initRepository(git, path, {
    defaultBranch,
    objectFormat,
    marker,
    async fill(unfinished) {
      const commit = { tree, parents: [], author, committer: author, message }
      const tip = await writeCommit(git, unfinished, commit)
      await takeObjects(git, unfinished, { ...options, tip })
      await runGit(git, ['update-ref', `refs/heads/${defaultBranch}`, tip], { cwd: unfinished })
    },
  })
}

/** Packs the objects that the commit reaches. The source is an alternate only during this. */
async function takeObjects(
  git: Git,
  unfinished: string,
  { source, tip, signal }: TemplateOptions & { readonly tip: string },
): Promise<void> {
  const objects = join(unfinished, 'objects')
  const alternates = join(objects, 'info', 'alternates')
  await mkdir(join(objects, 'info'), { recursive: true })
  await mkdir(join(objects, 'pack'), { recursive: true })
  await writeFile(alternates, `${relative(objects, join(source, 'objects'))}\n`)
  const words = ['pack-objects', '--quiet', '--revs', join(objects, 'pack', 'pack')]
  const end = await runGitToEnd(git, 'fetch', words, {
    cwd: unfinished,
    input: `${tip}\n`,
    environment: gitEnvironment(git, { config: [] }),
    timeoutMs: REPOSITORY_COPY_MS,
    outputBytesMax: GIT_OUTPUT_BYTES_MAX,
    signal,
  })
  await rm(alternates)
  if (end.exitCode !== 0) throw gitError('pack-objects', end)
}
