/** Folder of a repository for its page: entries with their last commits, and the README. */

import type { Commit } from '../../../cgi/objects/commit-object.js'
import { lastCommits } from '../../../cgi/objects/last-commits.js'
import { readTree, type TreeEntry } from '../../../cgi/objects/tree.js'
import { type GitReader, readBlob, readCommit } from '../../actions/code/git-reader.js'
import type { Place } from './place.js'

export interface ShownEntry {
  readonly entry: TreeEntry
  /** Last commit that changed the entry; undefined if none of the latest commits did. */
  readonly commit: Commit | undefined
}

export interface ShownFolder {
  readonly entries: readonly ShownEntry[]
  /** True if some entries are not shown. */
  readonly isCut: boolean
  /** Commit that the revision names. */
  readonly head: Commit
  readonly readme: { readonly name: string; readonly text: string } | undefined
}

interface FolderInput {
  readonly place: Place
  readonly entry: TreeEntry
  readonly signal: AbortSignal
}

/** Maximum number of entries on a page. */
const ENTRIES_SHOWN_MAX = 1_000

/** Maximum size of a README that is shown below the entries. */
const README_BYTES_MAX = 262_144

/** Reads a folder. Subfolders and submodules precede files. */
export async function readFolder(
  reader: GitReader,
  { place, entry, signal }: FolderInput,
): Promise<ShownFolder> {
  const from = place.revision.commitId
  const all = await readTree(reader.objects, entry.id)
  const sorted = [...all.filter(isFolder), ...all.filter((one) => !isFolder(one))]
  const shown = sorted.slice(0, ENTRIES_SHOWN_MAX)
  const names = new Set(shown.map(({ name }) => name))
  const isWhole = shown.length === all.length
  const [head, ids, readme] = await Promise.all([
    readCommit(reader, from),
    lastCommits(reader, { from, folder: place.path, names, isWhole, signal }),
    readReadme(reader, all, signal),
  ])
  const commits = new Map<string, Promise<Commit>>()
  for (const id of ids.values()) commits.set(id, commits.get(id) ?? readCommit(reader, id))
  const entries = await Promise.all(
    shown.map(async (one) => ({ entry: one, commit: await commits.get(ids.get(one.name) ?? '') })),
  )
  return { entries, isCut: all.length > shown.length, head, readme }
}

function isFolder({ kind }: TreeEntry): boolean {
  return kind === 'directory' || kind === 'submodule'
}

async function readReadme(
  reader: GitReader,
  entries: readonly TreeEntry[],
  signal: AbortSignal,
): Promise<ShownFolder['readme']> {
  const files = entries.filter(({ kind, name }) => kind === 'file' && /^readme(?:\.|$)/i.test(name))
  const found = files.find(({ name }) => /\.(?:md|markdown)$/i.test(name)) ?? files[0]
  const blob = found && (await readBlob(reader, found.id, signal))
  if (blob?.content === undefined || blob.sizeBytes > README_BYTES_MAX) return undefined
  if (blob.content.includes(0)) return undefined
  return { name: found?.name ?? '', text: blob.content.toString() }
}
