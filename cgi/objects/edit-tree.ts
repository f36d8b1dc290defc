/** Changing files of a commit: the trees on the way to them are written anew, all others stay. */

import { Failure } from '../../conf/failures.js'
import type { Git } from '../process/git.js'
import type { ObjectReader } from './objects.js'
import { parseTree, type TreeEntry } from './tree.js'
import { type NewTreeEntry, writeTree } from './write-objects.js'

/** What shall stand at a path. */
export interface FileEdit {
  /** Checked: `parseFilePath`. */
  readonly names: readonly string[]
  /** Undefined: nothing. A folder that holds nothing more goes as well. */
  readonly entry: Pick<TreeEntry, 'mode' | 'id'> | undefined
}

export interface TreeEdits {
  readonly objects: ObjectReader
  /** Undefined: there is no commit yet. */
  readonly treeId: string | undefined
  /** At most one for each path. */
  readonly edits: readonly FileEdit[]
}

/**
 * The id of the tree with these changes. Throws `invalid` where a file would stand where a folder
 * is, or the other way round; links are files here, and lead nowhere.
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
  /** How many names of each path lead to this folder. */
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

/** The edits by the name at that depth. */
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

/** By the bytes of their names, as one character each. */
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
