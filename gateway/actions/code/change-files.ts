/** Commits that change files of a branch, with retries if other writers change it meanwhile. */

import { withJournalEntry } from '../../../cgi/maintenance/at-work.js'
import type { GitObject } from '../../../cgi/objects/cat-file.js'
import { type Commit, parseCommit, type Signature } from '../../../cgi/objects/commit-object.js'
import { editTree, type FileEdit } from '../../../cgi/objects/edit-tree.js'
import { refuseBadModules } from '../../../cgi/objects/modules-check.js'
import type { ObjectReader } from '../../../cgi/objects/objects.js'
import { findEntry, type TreeEntry } from '../../../cgi/objects/tree.js'
import { withObjects } from '../../../cgi/objects/with-objects.js'
import { writeBlob, writeCommit } from '../../../cgi/objects/write-objects.js'
import { NAME_CONFLICT, REFERENCE_HELD } from '../../../cgi/refs/references.js'
import { isEmptyRepository } from '../../../cgi/repository/repository.js'
import { Failure, isFailure } from '../../../conf/failures.js'
import { isModulesName } from '../../../conf/file-path.js'
import type { User } from '../../../sql/accounts/users.js'
import type { Repository } from '../../../sql/repositories/repositories.js'
import type { Context } from '../../request/context.js'
import { createKeyedMutex } from './keyed-mutex.js'
import { changeReferences } from './references-moved.js'

/** Maximum size of a file whose content is included in a JSON answer. */
const FILE_CONTENT_BYTES_MAX = 10_485_760

/** Requested change of a file. */
export interface FileChange {
  /** `put` creates the file or updates an existing one. */
  readonly operation: 'create' | 'update' | 'put' | 'delete'
  /** Path segments, from `parseFilePath`. */
  readonly names: readonly string[]
  /** Old path of a renamed file; absent for an unchanged path. */
  readonly fromNames?: readonly string[] | undefined
  /** Expected blob id of the existing file; the change is refused if it has another. */
  readonly sha?: string | undefined
  /** True if `sha` is a condition of the request, whose failure is `precondition_failed`. */
  readonly isCondition?: boolean | undefined
  /** Absent if the file is deleted, or renamed without a change. */
  readonly content?: Buffer | undefined
  /** Mode of the written file; by default, the one that it has, or that of a plain file. */
  readonly mode?: string | undefined
}

export interface FileChanges {
  readonly repository: Repository
  /** Absolute path of the repository. */
  readonly path: string
  readonly user: User
  /** Branch of the parent commit. */
  readonly branch: string
  /** Branch that gets the commit: the same one, or one that does not exist yet. */
  readonly newBranch: string
  readonly changes: readonly FileChange[]
  readonly author: Signature
  readonly committer: Signature
  readonly message: string
}

export interface ChangedFiles {
  readonly commit: Commit
  /** Resulting file of each change; undefined for a deletion. */
  readonly files: ReadonlyArray<WrittenFile | undefined>
}

export interface WrittenFile {
  readonly names: readonly string[]
  readonly entry: Pick<TreeEntry, 'id' | 'mode'>
  readonly sizeBytes: number
  /** Undefined if it is larger than FILE_CONTENT_BYTES_MAX. */
  readonly content: Buffer | undefined
}

/**
 * Time for retries after other processes have changed the branch first. Writers of this process do
 * not compete, because a mutex serializes them.
 */
const LOST_MS_MAX = 60_000

/** Time for retries while a lock is held: by a crashed process, or on a very busy machine. */
const HELD_MS_MAX = 15_000

const withRepository = createKeyedMutex()

/**
 * Creates the commit. Throws `not_found` if a branch or file is missing, and `invalid` if one
 * already exists, if a file has another id than expected, or if the tree would not be valid.
 */
export function changeFiles(context: Context, wanted: FileChanges): Promise<ChangedFiles> {
  return withJournalEntry(context.journal, wanted.path, () => makeChanges(context, wanted))
}

async function makeChanges(context: Context, wanted: FileChanges): Promise<ChangedFiles> {
  // Blobs are written before the mutex is entered, because they do not depend on other writers.
  const blobIds: (string | undefined)[] = []
  for (const { content } of wanted.changes) {
    blobIds.push(
      content === undefined ? undefined : await writeBlob(context.git, wanted.path, content),
    )
  }
  return await withRepository(wanted.path, async () => {
    const startedAtMs = performance.now()
    for (;;) {
      try {
        return await tryOnce(context, wanted, blobIds)
      } catch (error) {
        if (!isFailure(error, 'conflict')) throw error
        if (error.message === NAME_CONFLICT) throw new Failure('invalid', error.message)
        const waitMsMax = error.message === REFERENCE_HELD ? HELD_MS_MAX : LOST_MS_MAX
        if (performance.now() - startedAtMs > waitMsMax) throw error
      }
    }
  })
}

async function tryOnce(
  context: Context,
  wanted: FileChanges,
  blobIds: ReadonlyArray<string | undefined>,
): Promise<ChangedFiles> {
  const { git } = context
  const { path, branch, newBranch, repository } = wanted
  return await withObjects(git, path, async (objects) => {
    const base = await findBase(objects, wanted)
    const steps: Step[] = []
    for (const [index, change] of wanted.changes.entries()) {
      steps.push(await judge(objects, { base, change, blobId: blobIds[index] }))
    }
    await judgeModules(context, steps)
    const edits = editsOf(steps)
    const treeId = base?.tree
    const tree = await editTree(git, path, { objects, treeId, edits })
    const { author, committer, message } = wanted
    const parents = base === undefined ? [] : [base.id]
    const id = await writeCommit(git, path, { tree, parents, author, committer, message })
    const before = newBranch === branch ? base?.id : undefined
    const changes = [{ name: `refs/heads/${newBranch}`, before, after: id }]
    await changeReferences(context, { repository, path, pusher: wanted.user, changes })
    const written = await objects.read(id)
    if (written?.content === undefined) throw new Error(`the new commit ${id} cannot be read`)
    return { commit: parseCommit(id, written.content), files: steps.map(({ file }) => file) }
  })
}

/** Returns the parent commit; undefined for the first commit of a branch. */
async function findBase(
  objects: ObjectReader,
  { repository, path, branch, newBranch }: FileChanges,
): Promise<Commit | undefined> {
  const found = await objects.read(`refs/heads/${branch}^{commit}`)
  if (newBranch !== branch && (await objects.read(`refs/heads/${newBranch}`)) !== undefined) {
    throw new Failure('invalid', `branch already exists [name: ${newBranch}]`)
  }
  if (found?.content !== undefined) return parseCommit(found.id, found.content)
  const mayBegin = branch === repository.defaultBranch || (await isEmptyRepository(path))
  if (mayBegin) return undefined
  throw new Failure('not_found', `branch does not exist [name: ${branch}]`)
}

interface ChangeCheck {
  readonly base: Commit | undefined
  readonly change: FileChange
  readonly blobId: string | undefined
}

/** A checked change, and its effect on paths. */
interface Step {
  readonly change: FileChange
  readonly file: WrittenFile | undefined
  /** Path from which the file is removed. */
  readonly left: readonly string[] | undefined
}

async function judge(objects: ObjectReader, { base, change, blobId }: ChangeCheck): Promise<Step> {
  const { operation, names, sha, isCondition = false } = change
  const fromNames = change.fromNames ?? names
  const isMoved = fromNames.join('/') !== names.join('/')
  const find = async (at: readonly string[]) =>
    base === undefined ? undefined : await findEntry(objects, base.tree, at)
  const source = operation === 'create' ? undefined : await find(fromNames)
  const target = operation === 'create' || isMoved ? await find(names) : undefined
  if (target !== undefined) {
    throw new Failure('invalid', `repository file already exists [path: ${names.join('/')}]`)
  }
  const mustBe = operation !== 'create' && (operation !== 'put' || isMoved || sha !== undefined)
  if (isCondition && source?.id !== sha) {
    throw new Failure('precondition_failed', `The file is not at ${sha}, which If-Match requires.`)
  }
  if (source === undefined && mustBe) {
    throw new Failure('not_found', `repository file does not exist [path: ${fromNames.join('/')}]`)
  }
  if (source?.kind === 'directory' || (source?.kind === 'submodule' && operation !== 'delete')) {
    throw new Failure('invalid', `path is not a file [path: ${fromNames.join('/')}]`)
  }
  if (source !== undefined && sha !== undefined && source.id !== sha.toLowerCase()) {
    throw new Failure('invalid', `sha does not match [given: ${sha}, expected: ${source.id}]`)
  }
  if (operation === 'delete') return { change, file: undefined, left: names }
  const entry = { id: blobId ?? source?.id ?? '', mode: change.mode ?? source?.mode ?? '100644' }
  const content = change.content ?? (await objects.read(entry.id, FILE_CONTENT_BYTES_MAX))
  const file = { names, entry, ...measured(content) }
  return { change, file, left: isMoved ? fromNames : undefined }
}

function measured(
  content: Buffer | GitObject | undefined,
): Pick<WrittenFile, 'sizeBytes' | 'content'> {
  if (content === undefined) throw new Error('the blob of a renamed file is missing')
  if (!Buffer.isBuffer(content)) return content
  const isNotified = content.length <= FILE_CONTENT_BYTES_MAX
  return { sizeBytes: content.length, content: isNotified ? content : undefined }
}

/**
 * Returns one edit for each path. A path that one change removes and another one writes is written.
 * Throws `invalid` if two changes write, or two remove, the same path.
 */
function editsOf(steps: readonly Step[]): readonly FileEdit[] {
  const edits = new Map<string, FileEdit>()
  const set = (names: readonly string[], entry: FileEdit['entry']) => {
    const key = names.join('/')
    const known = edits.get(key)
    if (known !== undefined && (known.entry === undefined) === (entry === undefined)) {
      throw new Failure('invalid', `the file is changed twice [path: ${key}]`)
    }
    if (known === undefined || entry !== undefined) edits.set(key, { names, entry })
  }
  for (const { file, left } of steps) {
    if (left !== undefined) set(left, undefined)
    if (file !== undefined) set(file.names, file.entry)
  }
  return [...edits.values()]
}

/** Throws `invalid` for an unsafe `.gitmodules`, which git checks in pushes but not here. */
async function judgeModules({ git }: Context, steps: readonly Step[]): Promise<void> {
  for (const { change, file } of steps) {
    const name = change.names.at(-1) ?? ''
    if (file === undefined || !isModulesName(name)) continue
    const { entry, content } = file
    if (content === undefined) {
      throw new Failure('invalid', `${name} is larger than ${FILE_CONTENT_BYTES_MAX} bytes`)
    }
    await refuseBadModules(git, { name, mode: entry.mode, content })
  }
}
