/** Small files of commits that no ref of a repository reaches yet. */

import type { Git } from '../process/git.js'
import { fullId, gitRecordBatches, gitRecords } from '../process/git-output.js'

export interface NewFilesInput {
  readonly commit: string
  /** Maximum size of a file; larger ones are left out. */
  readonly bytesMax: number
  /** Maximum number of new objects that are examined. */
  readonly objectsMax: number
}

/** Returns the ids of the small files that a commit has and the refs do not have. */
export async function listNewFiles(
  git: Git,
  path: string,
  { commit, bytesMax, objectsMax }: NewFilesInput,
): Promise<readonly string[]> {
  const filter = `--filter=blob:limit=${bytesMax + 1}`
  const args = ['rev-list', '--objects', filter, fullId(commit), '--not', '--all']
  const ids: string[] = []
  for await (const lines of gitRecordBatches(git, args, { cwd: path, separator: '\n' })) {
    // The path of a tree or a file follows its id.
    for (const line of lines) if (line.includes(' ')) ids.push(line.slice(0, line.indexOf(' ')))
    if (ids.length > objectsMax) break
  }
  const input = ids.slice(0, objectsMax).map((id) => `${fullId(id)}\n`)
  if (input.length === 0) return []
  const check = ['cat-file', '--batch-check=%(objecttype) %(objectname)']
  const options = { cwd: path, separator: '\n', input: input.join('') } as const
  const files: string[] = []
  for await (const line of gitRecords(git, check, options)) {
    if (line.startsWith('blob ')) files.push(line.slice('blob '.length))
  }
  return files
}
