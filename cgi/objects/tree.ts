/** What a folder of a commit holds, from the bytes that Git keeps of it, and the way to a path. */

import { Failure } from '../../conf/failures.js'
import type { GitObject, ObjectReader } from './objects.js'

export interface TreeEntry {
  /** Six octal digits: `100644`, `100755`, `120000`, `040000`, `160000`. */
  readonly mode: string
  readonly kind: EntryKind
  /** One segment of a path, as UTF-8 as it goes. */
  readonly name: string
  /** The name as it stands there, which need not be UTF-8. */
  readonly nameBytes: Buffer
  readonly id: string
}

/** A submodule is a commit of another repository. */
export type EntryKind = 'file' | 'directory' | 'symlink' | 'submodule'

/** What is there of a tree object. What is odd in it ends the list, and never throws. */
export function parseTree(tree: Pick<GitObject, 'id' | 'content'>): TreeEntry[] {
  const bytes = treeBytes(tree)
  const entries: TreeEntry[] = []
  for (let next = entryAt(bytes, 0); next !== undefined; next = entryAt(bytes, next.end)) {
    entries.push(next.entry)
  }
  return entries
}

/** The bytes of a tree object, and how many of them an id takes. */
export interface TreeBytes {
  readonly content: Buffer
  readonly idBytes: number
}

/** Throws `payload_too_large` for a tree that is larger than the reader held. */
export function treeBytes({ id, content }: Pick<GitObject, 'id' | 'content'>): TreeBytes {
  if (content === undefined) throw new Failure('payload_too_large', 'The folder is too large.')
  return { content, idBytes: id.length / 2 }
}

/** The entry that begins there, and where it ends; undefined where none does. */
export function entryAt(
  bytes: TreeBytes,
  at: number,
): { readonly entry: TreeEntry; readonly end: number } | undefined {
  const place = placeAt(bytes, at)
  if (place === undefined) return undefined
  const { content } = bytes
  const { space, nul, end } = place
  const nameBytes = content.subarray(space + 1, nul)
  const entry = {
    ...modeOf(content.toString('latin1', at, space)),
    name: nameBytes.toString(),
    nameBytes,
    id: content.toString('hex', nul + 1, end),
  }
  return { entry, end }
}

/** The first entry of that name, without making values of those before it. */
function entryNamed(bytes: TreeBytes, name: string): TreeEntry | undefined {
  let at = 0
  for (let place = placeAt(bytes, at); place !== undefined; place = placeAt(bytes, at)) {
    const { space, nul, end } = place
    const isIt = bytes.content.toString('utf8', space + 1, nul) === name
    if (isIt) return entryAt(bytes, at)?.entry
    at = end
  }
  return undefined
}

/** gitformat of a tree: the mode, a space, the name, NUL, and the bytes of the id. */
function placeAt({ content, idBytes }: TreeBytes, at: number) {
  const space = content.indexOf(0x20, at)
  const nul = space < 0 ? -1 : content.indexOf(0, space)
  const end = nul + 1 + idBytes
  return nul < 0 || end > content.length ? undefined : { space, nul, end }
}

/** A mode as git writes it, with or without its leading zero, and what it means. */
export function modeOf(text: string): Pick<TreeEntry, 'mode' | 'kind'> {
  const mode = text.padStart(6, '0')
  switch (mode.slice(0, 2)) {
    case '04':
      return { mode, kind: 'directory' }
    case '12':
      return { mode, kind: 'symlink' }
    case '16':
      return { mode, kind: 'submodule' }
    default:
      return { mode, kind: 'file' }
  }
}

/** Longer paths, and deeper ones, are of no checkout. */
const PATH_BYTES_MAX = 4_096

/**
 * The segments of a path inside a repository; none for its top. Undefined where the text is no such
 * path. Slashes at either end do not count.
 */
export function pathSegments(text: string): readonly string[] | undefined {
  const inner = text.replace(/^\/+|\/+$/g, '')
  if (inner === '') return []
  const segments = inner.split('/')
  const wrong =
    Buffer.byteLength(inner) > PATH_BYTES_MAX ||
    inner.includes('\0') ||
    segments.some((segment) => segment === '' || segment === '.' || segment === '..')
  return wrong ? undefined : segments
}

/**
 * The entry at a path below the tree of that id, itself where there are no segments. Undefined
 * where there is none. Links are entries like any other and are not followed.
 */
export async function findEntry(
  objects: ObjectReader,
  treeId: string,
  segments: readonly string[],
): Promise<TreeEntry | undefined> {
  let entry: TreeEntry = {
    ...modeOf('040000'),
    name: '',
    nameBytes: Buffer.alloc(0),
    id: treeId,
  }
  for (const segment of segments) {
    const tree = entry.kind === 'directory' ? await objects.read(entry.id) : undefined
    const found = tree?.type === 'tree' ? entryNamed(treeBytes(tree), segment) : undefined
    if (found === undefined) return undefined
    entry = found
  }
  return entry
}

/** The entries of the tree of that id; none where it is missing. */
export async function readTree(
  objects: ObjectReader,
  treeId: string,
): Promise<readonly TreeEntry[]> {
  const tree = await objects.read(treeId)
  return tree?.type === 'tree' ? parseTree(tree) : []
}
