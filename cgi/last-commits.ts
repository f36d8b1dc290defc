/** Which commit last changed each entry of a folder, as far back as is quickly seen. */

import type { Repository } from './commit-changes.js'
import { fullId, gitRecords } from './git-output.js'
import type { ObjectReader } from './objects.js'
import { findEntry } from './tree.js'
import { differing } from './tree-changes.js'

export interface LastCommitsWish {
  /** The full id of the youngest commit. */
  readonly from: string
  /** The way to the folder; none for the top of the repository. */
  readonly folder: readonly string[]
  readonly names: ReadonlySet<string>
  readonly signal?: AbortSignal | undefined
}

/** Commits that are looked through, whatever they changed. */
const COMMITS_MAX = 300

/** Entries that are compared in all of them. */
const ENTRIES_MAX = 400_000

/**
 * By the names of the entries. Those that the latest commits did not touch are not among them.
 */
export async function lastCommits(
  repository: Repository,
  { names, ...wish }: LastCommitsWish,
): Promise<ReadonlyMap<string, string>> {
  const { objects } = repository
  const found = new Map<string, string>()
  const trees = new Map<string, string | undefined>()
  const treeOf = async (commitId: string | undefined) => {
    if (commitId === undefined) return undefined
    if (!trees.has(commitId)) trees.set(commitId, await folderTree(objects, commitId, wish.folder))
    return trees.get(commitId)
  }
  let entries = 0
  for await (const { id, parent } of changesOf(repository, wish)) {
    const [before, after] = [await treeOf(parent), await treeOf(id)]
    for (const [, entry] of await differing(objects, { before, after })) {
      if (entry === undefined || !names.has(entry.name) || found.has(entry.name)) continue
      found.set(entry.name, id)
    }
    entries += names.size
    if (found.size === names.size || entries > ENTRIES_MAX) break
  }
  return found
}

async function folderTree(
  objects: ObjectReader,
  commitId: string,
  folder: readonly string[],
): Promise<string | undefined> {
  const top = await objects.read(`${commitId}^{tree}`)
  const entry = top && (await findEntry(objects, top.id, folder))
  return entry?.kind === 'directory' ? entry.id : undefined
}

/** A merge is left out: what it brought was changed by the commits that it merged. */
async function* changesOf(
  { git, path }: Repository,
  { from, signal }: Pick<LastCommitsWish, 'from' | 'signal'>,
): AsyncGenerator<{ readonly id: string; readonly parent: string | undefined }> {
  const part = ['--no-merges', '--parents', `--max-count=${COMMITS_MAX}`]
  const args = ['rev-list', ...part, fullId(from), '--']
  const options = { cwd: path, separator: '\n', signal } as const
  for await (const line of gitRecords(git, args, options)) {
    const [id = '', parent] = line.split(' ')
    yield { id, parent }
  }
}
