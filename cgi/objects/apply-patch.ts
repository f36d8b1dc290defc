/** Applies patches to trees with `git apply`, without a working tree. */

import { Failure } from '../../conf/failures.js'
import { firstLine, type Git, gitError, runGit, tryGit } from '../process/git.js'
import { fullId } from '../process/git-output.js'
import { withTemporaryRepository } from '../repository/temporary-repository.js'
import type { ObjectReader } from './objects.js'
import { areWalkable } from './tree-size.js'
import { withObjects } from './with-objects.js'

/** Maximum number of paths of the tree: git holds all of them in its index. */
const TREE_PATHS_MAX = 200_000

/** Maximum number of files that a patch changes. */
const FILES_MAX = 1_000

/** Maximum size of all files together that a patch writes. */
const BYTES_MAX = 16_777_216

export interface PatchInput {
  /** Id of the tree before the patch; undefined for a branch without commits. */
  readonly treeId: string | undefined
  /** A patch as `git diff` or `git format-patch` writes it. */
  readonly patch: string
}

/** A file that a patch creates, changes or deletes. A renamed file is deleted and created. */
export interface PatchedFile {
  readonly path: string
  /** Blob id before the patch; undefined if the patch creates the file. */
  readonly before: string | undefined
  /** Undefined if the patch deletes the file. */
  readonly after: { readonly mode: string; readonly content: Buffer } | undefined
}

/**
 * Returns the files that a patch changes. Writes nothing to the repository. Throws `invalid` if the
 * patch does not apply, changes nothing or changes a submodule, and `payload_too_large`.
 */
export async function applyPatch(
  git: Git,
  path: string,
  { treeId, patch }: PatchInput,
): Promise<readonly PatchedFile[]> {
  if (treeId !== undefined) await refuseLargeTree(git, path, treeId)
  return await withTemporaryRepository(path, async (temporary) => {
    const cwd = temporary
    const from = treeId ?? fullId((await runGit(git, ['mktree'], { cwd })).toString().trim())
    await runGit(git, ['read-tree', fullId(from)], { cwd, work: 'merge' })
    const end = await tryGit(git, APPLY, { cwd, work: 'merge', input: patch })
    if (end.exitCode !== 0) throw refusalOf(end)
    const raw = await runGit(git, [...LIST_CHANGES, fullId(from)], { cwd, work: 'merge' })
    const changes = parseChanges(raw)
    return await withObjects(git, temporary, (objects) => readFiles(objects, changes))
  })
}

/** Options of Gitea: line counts and white space of the context may be wrong. */
const APPLY =
  'apply --cached --3way --recount --binary --ignore-whitespace --whitespace=fix -'.split(' ')

const LIST_CHANGES = ['diff-index', '--cached', '--raw', '-z', '--no-renames', '--no-abbrev']

async function refuseLargeTree(git: Git, path: string, treeId: string): Promise<void> {
  const pair = { before: undefined, after: treeId }
  const isSmall = await withObjects(git, path, (objects) =>
    areWalkable(objects, [pair], TREE_PATHS_MAX),
  )
  if (isSmall) return
  const message = `The branch has more than ${TREE_PATHS_MAX} files: push the change instead.`
  throw new Failure('payload_too_large', message)
}

/** Returns the error of `git apply`, which ends with 1 or 128 for a patch that does not apply. */
function refusalOf(end: Awaited<ReturnType<typeof tryGit>>): Error {
  const error = gitError('apply', end)
  if (error instanceof Failure || end.exitCode === undefined) return error
  const lines = end.errorText.split('\n')
  const line = lines.findLast((each) => each.startsWith('error: ')) ?? lines.find(isConflict)
  const reason = (line ?? firstLine(end.errorText)).replace(/^error: /, '')
  return new Failure('invalid', `The patch does not apply: ${reason.slice(0, 500)}`)
}

function isConflict(line: string): boolean {
  return line.endsWith(' with conflicts.')
}

interface Change {
  readonly path: string
  readonly before: string | undefined
  readonly after: { readonly mode: string; readonly id: string } | undefined
}

/** Parses the raw format of git-diff-index(1): `:MODE MODE ID ID STATUS`, NUL, path, NUL. */
function parseChanges(raw: Buffer): readonly Change[] {
  const fields = raw.toString().split('\0')
  if (fields.length < 2) throw new Failure('invalid', 'The patch changes nothing.')
  if (fields.length > FILES_MAX * 2 + 1) {
    throw new Failure('payload_too_large', `The patch changes more than ${FILES_MAX} files.`)
  }
  const changes: Change[] = []
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const [oldMode = '', mode = '', before = '', id = ''] = (fields[at] ?? '').slice(1).split(' ')
    const path = fields[at + 1] ?? ''
    if ([oldMode, mode].includes(SUBMODULE)) {
      throw new Failure('invalid', `A patch cannot change the submodule "${path}".`)
    }
    changes.push({
      path,
      before: oldMode === ABSENT ? undefined : before,
      after: mode === ABSENT ? undefined : { mode, id },
    })
  }
  return changes
}

const ABSENT = '000000'
const SUBMODULE = '160000'

async function readFiles(
  objects: ObjectReader,
  changes: readonly Change[],
): Promise<readonly PatchedFile[]> {
  const ids = [...new Set(changes.flatMap(({ after }) => after?.id ?? []))]
  const sizes = await objects.readSizes(ids)
  const total = changes.reduce((sum, { after }) => sum + (sizes.get(after?.id ?? '') ?? 0), 0)
  if (total > BYTES_MAX) {
    const message = `The files that the patch changes are larger than ${BYTES_MAX} bytes together.`
    throw new Failure('payload_too_large', message)
  }
  const files: PatchedFile[] = []
  for (const { path, before, after } of changes) {
    files.push({ path, before, after: after && (await contentOf(objects, after)) })
  }
  return files
}

async function contentOf(objects: ObjectReader, { mode, id }: NonNullable<Change['after']>) {
  const content = (await objects.read(id))?.content
  if (content === undefined) throw new Error(`the patched blob ${id} cannot be read`)
  return { mode, content }
}
