/** Workflow files of commits, and the paths that a change has changed. */

import { parseCommit } from '../../cgi/objects/commit-object.js'
import type { ObjectReader } from '../../cgi/objects/objects.js'
import { findEntry, readTree } from '../../cgi/objects/tree.js'
import { changedPaths } from '../../cgi/objects/tree-changes.js'
import { WORKFLOW_FOLDER } from '../../conf/workflow-folder.js'
import { NAME_CHARACTERS_MAX } from '../../sql/runs/cut.js'

/** Maximum number of workflow files; further ones, in the order of their names, start nothing. */
const FILES_MAX = 50
/** Maximum size of a file, for reading; the parser of workflows has the same. */
const FILE_BYTES_MAX = 524_288
/** Maximum number of changed entries that filters of paths are compared with. */
const CHANGED_ENTRIES_MAX = 10_000

/** Returns the name of a workflow whose file has none. */
export function nameOfFile(file: string): string {
  return file.replace(/\.ya?ml$/, '')
}

/** A workflow file of a commit. */
export interface WorkflowFile {
  /** Name without the folder. */
  readonly name: string
  /** Id of the blob. */
  readonly id: string
  readonly text: string
}

/** A commit with the workflow files in it. */
export interface WorkflowCommit {
  readonly id: string
  readonly message: string
  readonly committedAtMs: number
  /** Undefined for a commit without parents. */
  readonly parent: string | undefined
  readonly files: readonly WorkflowFile[]
}

/** Reads a commit, or that of an annotated tag; undefined if it does not exist. */
export async function readWorkflowCommit(
  objects: ObjectReader,
  id: string,
): Promise<WorkflowCommit | undefined> {
  const object = await objects.read(`${id}^{commit}`)
  if (object?.type !== 'commit' || object.content === undefined) return undefined
  const { message, tree, parents, committer } = parseCommit(object.id, object.content)
  const files = await readFiles(objects, tree)
  return { id: object.id, message, committedAtMs: committer.atMs, parent: parents[0], files }
}

async function readFiles(objects: ObjectReader, treeId: string): Promise<readonly WorkflowFile[]> {
  const folder = await findEntry(objects, treeId, WORKFLOW_FOLDER.split('/'))
  if (folder?.kind !== 'directory') return []
  const entries = await readTree(objects, folder.id)
  const wanted = entries.filter(
    ({ kind, name }) =>
      kind === 'file' && /\.ya?ml$/.test(name) && name.length <= NAME_CHARACTERS_MAX,
  )
  const files: WorkflowFile[] = []
  for (const { name, id } of wanted.slice(0, FILES_MAX)) {
    const object = await objects.read(id, FILE_BYTES_MAX + 1)
    // A file that is too large is cut here, and refused by the parser for its length.
    const text = object?.content?.toString() ?? ' '.repeat(FILE_BYTES_MAX + 1)
    files.push({ name, id, text })
  }
  return files
}

/** False if a file certainly has no trigger for an event: its text does not have the name. */
export function mayName(text: string, event: string): boolean {
  // A backslash may be the escape of a letter.
  return text.includes(event) || text.includes('\\')
}

/** Two commits; without `from`, all paths of `to` have changed. */
export interface ChangedRange {
  readonly from: string | undefined
  readonly to: string
}

/** Returns the paths that differ; undefined if they are too many, or if a commit is missing. */
export async function readChangedPaths(
  objects: ObjectReader,
  { from, to }: ChangedRange,
): Promise<readonly string[] | undefined> {
  const [before, after] = [await treeOf(objects, from), await treeOf(objects, to)]
  if (after === undefined || (from !== undefined && before === undefined)) return undefined
  const changes = await changedPaths(objects, { before, after }, { entries: CHANGED_ENTRIES_MAX })
  return changes?.map(({ path }) => path)
}

async function treeOf(
  objects: ObjectReader,
  commitId: string | undefined,
): Promise<string | undefined> {
  const object = commitId === undefined ? undefined : await objects.read(`${commitId}^{commit}`)
  if (object?.type !== 'commit' || object.content === undefined) return undefined
  return parseCommit(object.id, object.content).tree
}

/** True if a commit's message, or the title of a pull request, asks for no run. */
export function asksForNoRun(text: string): boolean {
  return /\[(?:skip ci|ci skip|no ci|skip actions|actions skip)\]/i.test(text)
}
