/** All files of a commit as one archive, and a commit as a diff or a mail, streamed from git. */

import { type Git, gitEnvironment } from './git.js'
import { fullId } from './git-output.js'
import { type RunningProcess, startProcess } from './run.js'

export interface StreamWish {
  /** The full id of the commit. */
  readonly commitId: string
  readonly signal: AbortSignal
  readonly timeoutMs: number
  /** An answer that grows beyond this is broken off. */
  readonly bytesMax: number
}

/** Bytes that come from a process, which ends when they are no longer read. */
export interface GitStream {
  readonly body: AsyncIterable<Uint8Array>
  /** Settles when the process group is gone. */
  readonly ended: Promise<unknown>
}

export interface ArchiveWish extends StreamWish {
  readonly format: 'zip' | 'tar.gz'
  /** The folder in which all files are: a name of a repository. */
  readonly folder: string
}

/** The files of a commit. */
export function streamArchive(
  git: Git,
  path: string,
  { format, folder, ...wish }: ArchiveWish,
): GitStream {
  const prefix = `--prefix=${folder}/`
  const args = ['archive', `--format=${format}`, prefix, fullId(wish.commitId)]
  return stream(git, path, { args, ...wish })
}

/** What a commit changed, as a diff or as a mail that `git am` takes; merges have no mail. */
export function streamCommit(
  git: Git,
  path: string,
  { format, ...wish }: StreamWish & { readonly format: 'diff' | 'patch' },
): GitStream {
  const plain = ['--no-ext-diff', '--no-textconv', '--root']
  const id = fullId(wish.commitId)
  const args =
    format === 'diff'
      ? ['show', '--format=', '--diff-merges=first-parent', '-p', ...plain, id]
      : ['format-patch', '-1', '--stdout', ...plain, id]
  return stream(git, path, { args, ...wish })
}

/** The bytes of a file. */
export function streamBlob(
  git: Git,
  path: string,
  { blobId, ...wish }: Omit<StreamWish, 'commitId'> & { readonly blobId: string },
): GitStream {
  return stream(git, path, { args: ['cat-file', 'blob', fullId(blobId)], ...wish })
}

function stream(
  git: Git,
  path: string,
  {
    args,
    signal,
    timeoutMs,
    bytesMax,
  }: Omit<StreamWish, 'commitId'> & {
    readonly args: readonly string[]
  },
): GitStream {
  const running = startProcess(git.file, args, {
    ...{ cwd: path, signal, timeoutMs },
    environment: gitEnvironment(git, { config: [] }),
  })
  running.input.end()
  return { body: within(running, bytesMax), ended: running.ended }
}

/** A part must never pass for the whole: what fails or grows too large is broken off. */
async function* within(running: RunningProcess, bytesMax: number): AsyncGenerator<Uint8Array> {
  let sizeBytes = 0
  for await (const chunk of running.output) {
    sizeBytes += chunk.length
    if (sizeBytes > bytesMax) throw new Error('an answer of git is larger than is sent')
    yield chunk
  }
  const { exitCode, errorText } = await running.ended
  if (exitCode !== 0) throw new Error(`git failed (${exitCode}): ${errorText.slice(0, 200)}`)
}
