/** Differences between two commits: a list of files with counts, a unified diff, or patches. */

import { Failure } from '../../conf/failures.js'
import { type Git, gitEnvironment, gitError, startGit } from '../process/git.js'
import { GIT_COMMAND_MS } from '../process/git-limits.js'
import { fullId } from '../process/git-output.js'
import {
  refusalKey,
  rememberingChunks,
  rememberRefusal,
  throwIfRefused,
} from '../process/refusals.js'
import { isBounded, isBoundedPair } from './commit-changes.js'
import { parseCommit } from './commit-object.js'
import { type CommitRange, listCommits } from './commit-range.js'
import { withObjects } from './with-objects.js'

/** Maximum size of git's output for a list of changed files, or for the diff of one file. */
const DIFF_LIST_BYTES_MAX = 16_777_216

/** Maximum size of a complete diff. */
const DIFF_BYTES_MAX = 268_435_456

/** A file that differs between two commits. */
export interface ChangedFile {
  readonly status: 'added' | 'deleted' | 'changed' | 'renamed' | 'copied'
  readonly path: string
  /** Path before a rename or copy. */
  readonly formerPath: string | undefined
  /** Number of added lines; 0 for a binary file. */
  readonly additions: number
  readonly deletions: number
}

/** Whitespace changes that a diff ignores. */
export type Whitespace = 'show-all' | 'ignore-all' | 'ignore-change' | 'ignore-eol'

const WHITESPACE_OPTIONS: Readonly<Record<Whitespace, readonly string[]>> = {
  'show-all': [],
  'ignore-all': ['--ignore-all-space'],
  'ignore-change': ['--ignore-space-change'],
  'ignore-eol': ['--ignore-space-at-eol'],
}

/** Options that run no program named in attributes and limit the search for renames. */
const PLAIN = ['--no-ext-diff', '--no-textconv', '--find-renames', '-l1000']

/** Lists the files that differ. Throws `payload_too_large` if there are too many. */
export async function listChangedFiles(
  git: Git,
  path: string,
  { from, to, whitespace = 'show-all' }: CommitRange & { readonly whitespace?: Whitespace },
): Promise<readonly ChangedFile[]> {
  const options = [...PLAIN, ...WHITESPACE_OPTIONS[whitespace], '--raw', '--numstat', '-z']
  const args = ['diff-tree', '-r', ...options, fullId(from), fullId(to)]
  return await rememberRefusal(refusalKey(path, args), async () => {
    await refuseTooMany(git, path, { from, to })
    const output = await readOutput(git, path, args)
    if (output === undefined) throw tooMany()
    return parseFiles(output.toString())
  })
}

/** Reads the whole output; undefined if it exceeds `DIFF_LIST_BYTES_MAX`. */
async function readOutput(
  git: Git,
  path: string,
  args: readonly string[],
): Promise<Buffer | undefined> {
  const chunks: Uint8Array[] = []
  let sizeBytes = 0
  for await (const chunk of outputOf(git, path, args)) {
    chunks.push(chunk)
    sizeBytes += chunk.length
    if (sizeBytes > DIFF_LIST_BYTES_MAX) return undefined
  }
  return Buffer.concat(chunks)
}

/** Git's status letter → status. Others, such as T (type change), are `changed`. */
const STATUSES: Readonly<Record<string, ChangedFile['status']>> = {
  A: 'added',
  D: 'deleted',
  R: 'renamed',
  C: 'copied',
}

/** Parses the output of git-diff-tree(1) with `-z`: all of `--raw`, then all of `--numstat`. */
function parseFiles(text: string): readonly ChangedFile[] {
  const fields = text.split('\0')
  const files: Omit<ChangedFile, 'additions' | 'deletions'>[] = []
  let at = 0
  while (fields[at]?.startsWith(':')) {
    const letter = fields[at]?.split(' ')[4]?.[0] ?? ''
    const isMoved = letter === 'R' || letter === 'C'
    const [one = '', other = ''] = [fields[at + 1], fields[at + 2]]
    const status = STATUSES[letter] ?? 'changed'
    files.push(
      isMoved
        ? { status, path: other, formerPath: one }
        : { status, path: one, formerPath: undefined },
    )
    at += isMoved ? 3 : 2
  }
  const counts = new Map<string, readonly [additions: number, deletions: number]>()
  for (; at < fields.length - 1; at += 1) {
    const [, added = '', removed = '', name = ''] =
      /^(\d+|-)\t(\d+|-)\t(.*)$/s.exec(fields[at] ?? '') ?? []
    // A moved file has an empty name, followed by its former and its present path.
    const path = name === '' ? (fields[at + 2] ?? '') : name
    if (name === '') at += 2
    counts.set(path, [Number(added) || 0, Number(removed) || 0])
  }
  return files.map((file) => {
    const [additions, deletions] = counts.get(file.path) ?? [0, 0]
    return { ...file, additions, deletions }
  })
}

export interface DiffInput extends CommitRange {
  /** `diff`: one diff of the range; `patch`: each commit as a mail for `git am`. */
  readonly format: 'diff' | 'patch'
  /** True to include the contents of binary files; otherwise they are only named. */
  readonly hasBinary: boolean
  readonly signal?: AbortSignal | undefined
}

/**
 * Returns the diff as a stream of text, which throws if it exceeds `DIFF_BYTES_MAX`. Throws
 * `payload_too_large` if too many files differ.
 */
export async function readDiff(
  git: Git,
  path: string,
  { from, to, format, hasBinary, signal }: DiffInput,
): Promise<AsyncGenerator<Uint8Array>> {
  const [one, other] = [fullId(from), fullId(to)]
  const args =
    format === 'diff'
      ? ['diff-tree', '-r', '-p', ...PLAIN, ...(hasBinary ? ['--binary'] : []), one, other]
      : ['format-patch', '--stdout', ...PLAIN, ...mailOptions(hasBinary), other, `^${one}`]
  const key = refusalKey(path, args)
  throwIfRefused(key)
  const refuse = format === 'diff' ? refuseTooMany : refuseLargePatches
  await rememberRefusal(refusalKey(path, [format, one, other]), () =>
    refuse(git, path, { from, to }),
  )
  return rememberingChunks(key, boundedOutput(git, path, args, signal))
}

async function* boundedOutput(
  git: Git,
  path: string,
  args: readonly string[],
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array> {
  let sizeBytes = 0
  for await (const chunk of outputOf(git, path, args, signal)) {
    sizeBytes += chunk.length
    if (sizeBytes > DIFF_BYTES_MAX) throw new Error(`the diff exceeds ${DIFF_BYTES_MAX} bytes`)
    yield chunk
  }
}

/** Throws for too many changed paths: git holds all in memory, and trees can have billions. */
async function refuseTooMany(git: Git, path: string, { from, to }: CommitRange): Promise<void> {
  const isSmall = await withObjects(git, path, async (objects) => {
    const [before, after] = await Promise.all(
      [from, to].map(async (id) => (await objects.read(`${fullId(id)}^{tree}`))?.id),
    )
    return isBoundedPair(objects, { before, after })
  })
  if (!isSmall) throw tooMany()
}

/** Throws if a single commit changes too many paths. Merges are skipped: they have no patch. */
async function refuseLargePatches(git: Git, path: string, range: CommitRange): Promise<void> {
  const ids = await listCommits(git, path, { ...range, hasMerges: false })
  await withObjects(git, path, async (objects) => {
    for (const id of ids) {
      const { content } = (await objects.read(id)) ?? {}
      const commit = content && parseCommit(id, content)
      if (commit !== undefined && !(await isBounded(objects, commit))) throw tooMany()
    }
  })
}

function tooMany(): Failure {
  return new Failure('payload_too_large', 'Too many files differ to list them.')
}

/** Returns options for format-patch, which includes binary files by default. */
function mailOptions(hasBinary: boolean): readonly string[] {
  return hasBinary ? ['--binary'] : ['--no-binary']
}

/**
 * Returns the diff of one file; undefined if it exceeds `DIFF_LIST_BYTES_MAX`. Throws
 * `payload_too_large` if too many files differ, because the path may be that of a folder.
 */
export async function readFileDiff(
  git: Git,
  path: string,
  { from, to, file }: CommitRange & { readonly file: string },
): Promise<string | undefined> {
  const names = ['--', `:(top,literal)${file}`]
  const args = ['diff-tree', '-r', '-p', ...PLAIN, fullId(from), fullId(to), ...names]
  return await rememberRefusal(refusalKey(path, args), async () => {
    await refuseTooMany(git, path, { from, to })
    return (await readOutput(git, path, args))?.toString()
  })
}

async function* outputOf(
  git: Git,
  path: string,
  args: readonly string[],
  signal?: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const running = await startGit(git, 'read', [git.file, ...args], {
    cwd: path,
    environment: gitEnvironment(git, { config: [] }),
    signal,
    timeoutMs: GIT_COMMAND_MS,
  })
  running.input.end()
  yield* running.output
  const end = await running.ended
  if (end.exitCode !== 0) throw gitError(args[0], end)
}
