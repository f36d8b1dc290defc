/** The files of a commit, as a checkout of all of it needs them. */

import { type Git, NO_REPLACEMENTS } from '../process/git.js'
import { fullId, gitRecordBatches } from '../process/git-output.js'

/** A commit, and the maximum number of its files. */
export interface FilesQuestion {
  readonly commit: string
  readonly countMax: number
}

/**
 * Returns the ids of the files in the tree of a commit, each once; undefined if there are more than
 * the maximum. Throws if the commit is missing.
 */
export async function filesOf(
  git: Git,
  path: string,
  { commit, countMax }: FilesQuestion,
): Promise<ReadonlySet<string> | undefined> {
  const onlyFiles = ['--filter=object:type=blob', '--filter-provided-objects']
  const args = ['rev-list', '--objects', '--no-object-names', '--no-walk', ...onlyFiles]
  const options = { cwd: path, environment: NO_REPLACEMENTS, separator: '\n' } as const
  const oids = new Set<string>()
  for await (const batch of gitRecordBatches(git, [...args, fullId(commit)], options)) {
    for (const oid of batch) oids.add(oid)
    if (oids.size > countMax) return undefined
  }
  return oids
}
