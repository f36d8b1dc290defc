/** Parser of tree objects, and lookup of paths in them. */

import { Failure } from '../../conf/failures.js'
import type { GitObject } from './cat-file.js'
import type { ObjectReader } from './objects.js'

export interface TreeEntry {
  /** Six octal digits: `100644`, `100755`, `120000`, `040000`, `160000`. */
  readonly mode: string
  readonly kind: EntryKind
  /** Path segment, decoded as UTF-8 with replacement characters. */
  readonly name: string
  /** Name as stored, which may not be UTF-8. */
  readonly nameBytes: Buffer
  readonly id: string
}

/** Kind of a tree entry. A submodule is a commit of another repository. */
export type EntryKind = 'file' | 'directory' | 'symlink' | 'submodule'

/** Parses a tree object. Malformed bytes end the list. Throws only if the tree is too large. */
export function parseTree(tree: Pick<GitObject, 'id' | 'content'>): TreeEntry[] {
  const bytes = treeBytes(tree)
  const entries: TreeEntry[] = []
  for (let next = entryAt(bytes, 0); next !== undefined; next = entryAt(bytes, next.end)) {
    entries.push(next.entry)
  }
  return entries
}

/** Content of a tree object, and the size of its binary ids. */
export interface TreeBytes {
  readonly content: Buffer
  readonly idBytes: number
}

/** Returns the bytes of a tree. Throws `payload_too_large` if it is larger than readers hold. */
export function treeBytes({ id, content }: Pick<GitObject, 'id' | 'content'>): TreeBytes {
  if (content === undefined) throw new Failure('payload_too_large', 'The folder is too large.')
  return { content, idBytes: id.length / 2 }
}

/** Parses the entry at an offset; undefined at the end and for malformed bytes. */
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

/** Finds the first entry with a name, without parsing the entries before it. */
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

/** Finds the parts of an entry: the mode, a space, the name, NUL and the binary id. */
function placeAt({ content, idBytes }: TreeBytes, at: number) {
  const space = content.indexOf(0x20, at)
  const nul = space < 0 ? -1 : content.indexOf(0, space)
  const end = nul + 1 + idBytes
  return nul < 0 || end > content.length ? undefined : { space, nul, end }
}

/** Parses a mode as git writes it, with or without a leading zero. */
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

/** Maximum length of a path: PATH_MAX on Linux. */
const PATH_BYTES_MAX = 4_096

/**
 * Splits a path inside a repository into segments; none for the top. Returns undefined if the path
 * is invalid. Slashes at either end are ignored.
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
 * Returns the entry at a path below a tree, or the tree itself if there are no segments. Returns
 * undefined if there is none. Symbolic links are not followed.
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

/** Reads the entries of a tree; none if it is missing. */
export async function readTree(
  objects: ObjectReader,
  treeId: string,
): Promise<readonly TreeEntry[]> {
  const tree = await objects.read(treeId)
  return tree?.type === 'tree' ? parseTree(tree) : []
}
