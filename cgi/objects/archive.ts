/** Archives of commits, commits as diffs or mails, and files, streamed from git. */

import { appendFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Failure } from '../../conf/failures.js'
import { unlessMissing } from '../../conf/lib/disk.js'
import {
  type Git,
  gitEnvironment,
  gitError,
  LITERAL_PATHS,
  NO_REPLACEMENTS,
  startGit,
} from '../process/git.js'
import { fullId } from '../process/git-output.js'
import {
  refusalKey,
  rememberingChunks,
  rememberRefusal,
  throwIfRefused,
} from '../process/refusals.js'
import type { RunningProcess } from '../process/run.js'
import { createTemporaryRepository } from '../repository/temporary-repository.js'
import { areWalkable } from './tree-size.js'
import { withObjects } from './with-objects.js'

/** Maximum number of paths of an archive: small trees can name billions. */
const ARCHIVE_ENTRIES_MAX = 500_000

export interface StreamInput {
  /** Full id of the commit. */
  readonly commitId: string
  readonly signal: AbortSignal
  readonly timeoutMs: number
  /** The stream throws if it exceeds this many bytes. */
  readonly bytesMax: number
}

/** Output of a process, which ends if the reader stops. */
export interface GitStream {
  readonly body: AsyncIterable<Uint8Array>
  /** Settles when the process group has ended. */
  readonly ended: Promise<unknown>
}

export interface ArchiveInput extends StreamInput {
  readonly format: 'zip' | 'tar.gz'
  /** Name of the top folder of the archive. */
  readonly folder: string
}

/**
 * Streams the files of a commit as an archive. Throws `payload_too_large` if the commit has more
 * than `ARCHIVE_ENTRIES_MAX` paths, or if its archive exceeded the limits of git before.
 */
export async function streamArchive(
  git: Git,
  path: string,
  { format, folder, ...input }: ArchiveInput,
): Promise<GitStream> {
  const commitId = fullId(input.commitId)
  await rememberRefusal(refusalKey(path, ['archive', commitId]), () =>
    refuseMany(git, path, commitId),
  )
  await turnPlaceholdersOff(path)
  const args = ['archive', `--format=${format}`, `--prefix=${folder}/`, commitId]
  return await stream(git, path, { args, ...input })
}

export interface PlainArchiveInput extends StreamInput {
  /** Path of the folder whose files the archive has; absent for all files. */
  readonly directory?: string | undefined
}

/**
 * Streams the files of a commit as a zip, without the effects of the attributes `export-ignore` and
 * `export-subst`. Folders are entries too. Text is converted by other attributes, such as `eol`, as
 * in a checkout on Linux. The archive depends on the commit alone, so all servers make the same
 * files of it. Throws like `streamArchive`.
 */
export async function streamPlainArchive(
  git: Git,
  path: string,
  { directory, ...input }: PlainArchiveInput,
): Promise<GitStream> {
  const commitId = fullId(input.commitId)
  await rememberRefusal(refusalKey(path, ['archive', commitId]), () =>
    refuseMany(git, path, commitId),
  )
  const temporary = await createTemporaryRepository(path)
  try {
    // Only this file takes precedence over the attributes in the commit (gitattributes(5)).
    await mkdir(join(temporary.path, 'info'))
    await writeFile(join(temporary.path, 'info', 'attributes'), PLAIN_ATTRIBUTES)
    const args = ['archive', '--format=zip', commitId, ...(directory ? ['--', directory] : [])]
    const { body, ended } = await stream(git, path, {
      args,
      ...input,
      cwd: temporary.path,
      environment: { ...gitEnvironment(git, { config: PLAIN_CONFIG }), ...LITERAL_PATHS },
    })
    return { body, ended: ended.finally(temporary.remove) }
  } catch (error) {
    await temporary.remove()
    throw error
  }
}

const PLAIN_ATTRIBUTES = '* -export-subst -export-ignore\n'

/** Settings of git's own defaults on Linux. Git does not convert files above the threshold. */
const PLAIN_CONFIG = [
  ['core.bigFileThreshold', '512m'],
  ['core.autocrlf', 'input'],
  ['core.eol', 'lf'],
] as const

/**
 * Returns everything that an archive depends on, besides git and the configuration of the
 * repository: the commit names its other attributes and the time of its files.
 */
export async function archiveWords(
  path: string,
  { commitId, format, folder }: Pick<ArchiveInput, 'commitId' | 'format' | 'folder'>,
): Promise<readonly string[]> {
  const attributes = await readAttributes(path)
  const isOurs = attributes === '' || attributes === NO_PLACEHOLDERS
  return ['archive', fullId(commitId), format, folder, isOurs ? '' : attributes]
}

async function readAttributes(path: string): Promise<string> {
  return (await unlessMissing(readFile(join(path, 'info', 'attributes'), 'utf8'))) ?? ''
}

async function refuseMany(git: Git, path: string, commitId: string): Promise<void> {
  const isSmall = await withObjects(git, path, async (objects) => {
    const tree = await objects.read(`${commitId}^{tree}`)
    return areWalkable(objects, [{ before: undefined, after: tree?.id }], ARCHIVE_ENTRIES_MAX)
  })
  if (!isSmall) throw new Failure('payload_too_large', 'The archive has too many files.')
}

const NO_PLACEHOLDERS = '* -export-subst\n'

/**
 * Disables the attribute `export-subst`, with which git replaces placeholders in the files of an
 * archive: `$Format:%>(16384)%n$` turns a few bytes into megabytes, and git holds each such file in
 * memory. `info/attributes` takes precedence over the files of commits (gitattributes(5)).
 */
async function turnPlaceholdersOff(path: string): Promise<void> {
  const file = join(path, 'info', 'attributes')
  const text = await readAttributes(path)
  if (text.endsWith(NO_PLACEHOLDERS)) return
  await mkdir(join(path, 'info'), { recursive: true })
  const separator = text === '' || text.endsWith('\n') ? '' : '\n'
  await appendFile(file, separator + NO_PLACEHOLDERS)
}

/** Streams the changes of a commit as a diff, or as a mail for `git am`; merges have no mail. */
export async function streamCommit(
  git: Git,
  path: string,
  { format, ...input }: StreamInput & { readonly format: 'diff' | 'patch' },
): Promise<GitStream> {
  const plain = ['--no-ext-diff', '--no-textconv', '--root']
  const id = fullId(input.commitId)
  const args =
    format === 'diff'
      ? ['show', '--format=', '--diff-merges=first-parent', '-p', ...plain, id]
      : ['format-patch', '-1', '--stdout', ...plain, id]
  return await stream(git, path, { args, ...input })
}

/** Streams the bytes of a file. */
export async function streamBlob(
  git: Git,
  path: string,
  { blobId, ...input }: Omit<StreamInput, 'commitId'> & { readonly blobId: string },
): Promise<GitStream> {
  return await stream(git, path, { args: ['cat-file', 'blob', fullId(blobId)], ...input })
}

async function stream(
  git: Git,
  path: string,
  {
    args,
    signal,
    timeoutMs,
    bytesMax,
    cwd = path,
    environment = gitEnvironment(git, { config: [] }),
  }: Omit<StreamInput, 'commitId'> & {
    readonly args: readonly string[]
    readonly cwd?: string
    readonly environment?: Readonly<Record<string, string>>
  },
): Promise<GitStream> {
  const key = refusalKey(path, args)
  throwIfRefused(key)
  const running = await startGit(git, 'download', [git.file, ...args], {
    cwd,
    signal,
    timeoutMs,
    // Downloads, which may be stored, then depend on no refs.
    environment: { ...environment, ...NO_REPLACEMENTS },
  })
  running.input.end()
  const chunks = within(running, bytesMax, args[0])
  return { body: rememberingChunks(key, chunks), ended: running.ended }
}

/** Yields the output, and throws if git fails or the output is too large. */
async function* within(
  running: RunningProcess,
  bytesMax: number,
  name: string | undefined,
): AsyncGenerator<Uint8Array> {
  let sizeBytes = 0
  for await (const chunk of running.output) {
    sizeBytes += chunk.length
    if (sizeBytes > bytesMax) throw new Error(`git wrote more than ${bytesMax} bytes`)
    yield chunk
  }
  const end = await running.ended
  if (end.exitCode !== 0) throw gitError(name, end)
}
