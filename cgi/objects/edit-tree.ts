/** Edits of trees: writes only the trees on the paths of changed files. */

import { Failure } from '../../conf/failures.js'
import type { Git } from '../process/git.js'
import type { ObjectReader } from './objects.js'
import { parseTree, type TreeEntry } from './tree.js'
import { type NewTreeEntry, writeTree } from './write-objects.js'

/** New entry of a path, or its deletion. */
export interface FileEdit {
  /** Path segments, from `parseFilePath`. */
  readonly names: readonly string[]
  /** Undefined to delete the file, and its folder if that becomes empty. */
  readonly entry: Pick<TreeEntry, 'mode' | 'id'> | undefined
}

export interface TreeEdits {
  readonly objects: ObjectReader
  /** Undefined if there is no commit yet. */
  readonly treeId: string | undefined
  /** Edits, at most one for each path. */
  readonly edits: readonly FileEdit[]
}

/**
 * Writes a tree with the edits and returns its id. Throws `invalid` if a file would replace a
 * folder, or a folder a file. Symbolic links count as files and are not followed.
 */
export async function editTree(git: Git, path: string, wanted: TreeEdits): Promise<string> {
  const { objects, treeId, edits } = wanted
  const entries = await edited({ git, path, objects }, { treeId, edits, depth: 0 })
  return await writeTree(git, path, entries)
}

interface Place {
  readonly git: Git
  readonly path: string
  readonly objects: ObjectReader
}

interface Level {
  readonly treeId: string | undefined
  readonly edits: readonly FileEdit[]
  /** Number of path segments above this folder. */
  readonly depth: number
}

async function edited(
  place: Place,
  { treeId, edits, depth }: Level,
): Promise<readonly NewTreeEntry[]> {
  const entries = await entriesOf(place.objects, treeId)
  for (const [name, below] of byName(edits, depth)) {
    const key = keyOf(Buffer.from(name))
    const own = below.find(({ names }) => names.length === depth + 1)
    const inner = below.filter((edit) => edit !== own)
    if (own !== undefined) setFile(entries, own, { key, name })
    if (inner.length > 0) {
      const found = entries.get(key)
      if (found !== undefined && found.kind !== 'directory') {
        throw inTheWay(found, inner[0]?.names.slice(0, depth + 1) ?? [])
      }
      const child = { treeId: found?.id, edits: inner, depth: depth + 1 }
      const children = await edited(place, child)
      if (children.length === 0) entries.delete(key)
      else {
        const id = await writeTree(place.git, place.path, children)
        entries.set(key, { mode: '040000', kind: 'directory', name, id })
      }
    }
  }
  return [...entries.values()]
}

/** Groups the edits by their path segment at a depth. */
function byName(edits: readonly FileEdit[], depth: number): ReadonlyMap<string, FileEdit[]> {
  const groups = new Map<string, FileEdit[]>()
  for (const edit of edits) {
    const name = edit.names[depth] ?? ''
    const group = groups.get(name)
    if (group === undefined) groups.set(name, [edit])
    else group.push(edit)
  }
  return groups
}

type Entry = NewTreeEntry & Pick<TreeEntry, 'kind'>

/** Reads the entries of a tree by `keyOf` their names. */
async function entriesOf(
  objects: ObjectReader,
  treeId: string | undefined,
): Promise<Map<string, Entry>> {
  if (treeId === undefined) return new Map()
  const tree = await objects.read(treeId)
  if (tree?.type !== 'tree') throw new Error(`the tree ${treeId} is missing`)
  return new Map(
    parseTree(tree).map(({ mode, kind, nameBytes, id }) => {
      return [keyOf(nameBytes), { mode, kind, name: nameBytes, id }]
    }),
  )
}

function keyOf(nameBytes: Buffer): string {
  return nameBytes.toString('latin1')
}

function setFile(
  entries: Map<string, Entry>,
  { names, entry }: FileEdit,
  { key, name }: { readonly key: string; readonly name: string },
): void {
  const found = entries.get(key)
  if (found?.kind === 'directory') throw inTheWay(found, names)
  if (entry === undefined) entries.delete(key)
  else entries.set(key, { ...entry, kind: 'file', name })
}

const WHAT = {
  directory: "a directory exists where you're trying to create a file",
  file: "a file exists where you're trying to create a subdirectory",
  symlink: "a symbolic link exists where you're trying to create a subdirectory",
  submodule: "a submodule exists where you're trying to create a subdirectory",
} as const satisfies Readonly<Record<TreeEntry['kind'], string>>

function inTheWay({ kind }: Entry, names: readonly string[]): Failure {
  return new Failure('invalid', `${WHAT[kind]} [path: ${names.join('/')}]`)
}
