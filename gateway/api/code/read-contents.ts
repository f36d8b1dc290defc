/** Reads files and folders of a revision with their metadata, for the contents of the API. */

import { lastCommitOf } from '../../../cgi/objects/history.js'
import { lastCommits } from '../../../cgi/objects/last-commits.js'
import { parseModules } from '../../../cgi/objects/modules-file.js'
import { findEntry, pathSegments, readTree, type TreeEntry } from '../../../cgi/objects/tree.js'
import type { Revision } from '../../../cgi/refs/revision.js'
import { type GitReader, readBlob, readCommit, readCommits } from '../../actions/code/git-reader.js'
import { POINTER_BYTES_MAX, pointerIn } from '../../actions/code/lfs-pointer.js'
import type { Contents } from '../../objects/code/contents-object.js'

/** Fields that are read in addition to the metadata. */
export interface Includes {
  /** True to read the content of a file. Files of a folder are listed without their content. */
  readonly content: boolean
  /** True to read the pointers of Git LFS. */
  readonly lfs: boolean
  /** True to include the message of the commit that last changed the path. */
  readonly message: boolean
}

export interface ContentsPlace {
  readonly revision: Revision
  /** Path of a file or a folder; empty for the root folder. */
  readonly path: string
  readonly includes: Includes
  readonly signal: AbortSignal
}

/**
 * Reads the entry at a path, and the entries of a folder. Returns undefined if there is no entry.
 */
export async function readContents(
  reader: GitReader,
  place: ContentsPlace,
): Promise<Contents | readonly Contents[] | undefined> {
  const found = await findPlace(reader, place)
  if (found === undefined) return undefined
  const { entry, file, top } = found
  return entry.kind === 'directory'
    ? readFolder(reader, { ...top, folder: file, entry })
    : readOne(reader, { ...top, file, entry })
}

/** Reads the entry at a path, which is a folder's own for a folder; undefined if there is none. */
export async function readEntry(
  reader: GitReader,
  place: ContentsPlace,
): Promise<Contents | undefined> {
  const found = await findPlace(reader, place)
  if (found === undefined || found.file === '') return undefined
  return readOne(reader, { ...found.top, file: found.file, entry: found.entry })
}

async function findPlace({ objects }: GitReader, { path, ...place }: ContentsPlace) {
  const segments = pathSegments(path)
  if (segments === undefined) return undefined
  const tree = await objects.read(`${place.revision.commitId}^{tree}`)
  const entry = tree && (await findEntry(objects, tree.id, segments))
  if (entry === undefined) return undefined
  return { entry, file: segments.join('/'), top: { ...place, treeId: tree?.id ?? '' } }
}

interface Top extends Omit<ContentsPlace, 'path'> {
  /** Id of the revision's root tree. */
  readonly treeId: string
}

async function readOne(
  reader: GitReader,
  { file, entry, ...top }: Top & { readonly file: string; readonly entry: TreeEntry },
): Promise<Contents> {
  const { includes, revision, signal } = top
  const isSubmodule = entry.kind === 'submodule'
  const isBlob = entry.kind === 'file' || entry.kind === 'symlink'
  const [blob, modules, lastCommitId] = await Promise.all([
    isBlob ? readBlob(reader, entry.id, signal) : undefined,
    isSubmodule ? readModules(reader, top.treeId) : undefined,
    lastCommitOf(reader, { from: revision.commitId, file, signal }),
  ])
  return {
    revision,
    entry,
    lastCommit: lastCommitId === undefined ? undefined : await readCommit(reader, lastCommitId),
    hasMessage: includes.message,
    path: file,
    sizeBytes: blob?.sizeBytes ?? 0,
    content: includes.content || entry.kind === 'symlink' ? blob?.content : undefined,
    lfsPointer: includes.lfs && entry.kind === 'file' ? pointerIn(blob?.content) : undefined,
    submoduleUrl: modules?.get(file),
  }
}

/** Maximum length of a symbolic link's target in bytes; longer ones are not read. */
const LINK_BYTES_MAX = 4_096

async function readFolder(
  reader: GitReader,
  { folder, entry, ...top }: Top & { readonly folder: string; readonly entry: TreeEntry },
): Promise<Contents[]> {
  const { objects } = reader
  const { includes, revision, signal, treeId } = top
  const way = pathSegments(folder) ?? []
  const entries = await readTree(objects, entry.id)
  const blobs = entries.filter(({ kind }) => kind === 'file' || kind === 'symlink')
  const ids = blobs.map(({ id }) => id)
  const names = new Set(entries.map(({ name }) => name))
  const hasModules = entries.some(({ kind }) => kind === 'submodule')
  const [sizes, commits, modules] = await Promise.all([
    objects.readSizes(ids, signal),
    lastCommits(reader, { from: revision.commitId, folder: way, names, isWhole: true, signal }),
    hasModules ? readModules(reader, treeId) : undefined,
  ])
  const lastIds = [...new Set(commits.values())]
  const last = new Map((await readCommits(reader, lastIds)).map((commit) => [commit.id, commit]))
  return Promise.all(
    entries.map(async (entry): Promise<Contents> => {
      const file = folder === '' ? entry.name : `${folder}/${entry.name}`
      const sizeBytes = sizes.get(entry.id) ?? 0
      const isLink = entry.kind === 'symlink' && sizeBytes <= LINK_BYTES_MAX
      const isPointer = includes.lfs && entry.kind === 'file' && sizeBytes <= POINTER_BYTES_MAX
      const content = isLink || isPointer ? (await objects.read(entry.id))?.content : undefined
      return {
        revision,
        entry,
        sizeBytes,
        path: file,
        lastCommit: last.get(commits.get(entry.name) ?? ''),
        hasMessage: includes.message,
        content: isLink ? content : undefined,
        lfsPointer: isPointer ? pointerIn(content) : undefined,
        submoduleUrl: modules?.get(file),
      }
    }),
  )
}

const MODULES_BYTES_MAX = 1_048_576

async function readModules(
  { objects }: GitReader,
  treeId: string,
): Promise<ReadonlyMap<string, string>> {
  const entry = await findEntry(objects, treeId, ['.gitmodules'])
  const blob = entry?.kind === 'file' ? await objects.read(entry.id, MODULES_BYTES_MAX) : undefined
  return parseModules(blob?.content?.toString() ?? '')
}
