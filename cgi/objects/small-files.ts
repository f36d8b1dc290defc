/** Small files of commits that no ref reaches yet, of all refs, and of all stored objects. */

import type { Git } from '../process/git.js'
import { MAINTENANCE_STEP_MS } from '../process/git-limits.js'
import { fullId, gitRecordBatches, gitRecords } from '../process/git-output.js'

export interface SmallFilesInput {
  /** Commit whose files no ref reaches yet; undefined for the files of all refs. */
  readonly commit: string | undefined
  /** Maximum size of a file; larger ones are left out. */
  readonly bytesMax: number
  /** Maximum number of objects that are examined; the files of further ones are left out. */
  readonly objectsMax?: number
  readonly signal?: AbortSignal | undefined
  readonly timeoutMs?: number
}

/** Number of objects that one process examines. */
const EXAMINED = 20_000

/** Yields the ids of the small files in batches. */
export async function* listSmallFiles(
  git: Git,
  path: string,
  { commit, bytesMax, objectsMax = Number.POSITIVE_INFINITY, ...bounds }: SmallFilesInput,
): AsyncGenerator<readonly string[]> {
  const filter = `--filter=blob:limit=${bytesMax + 1}`
  const range = commit === undefined ? ['--all'] : [fullId(commit), '--not', '--all']
  const args = ['rev-list', '--objects', filter, ...range]
  const options = { ...bounds, cwd: path, separator: '\n' } as const
  let ids: string[] = []
  let left = objectsMax
  for await (const lines of gitRecordBatches(git, args, options)) {
    // The path of a tree or a file follows its id.
    for (const line of lines) if (line.includes(' ')) ids.push(line.slice(0, line.indexOf(' ')))
    if (ids.length > left) break
    if (ids.length < EXAMINED) continue
    left -= ids.length
    yield await filesAmong(git, ids, options)
    ids = []
  }
  ids = ids.slice(0, left)
  if (ids.length > 0) yield await filesAmong(git, ids, options)
}

export interface StoredFilesInput {
  /** Maximum size of a file; larger ones are left out. */
  readonly bytesMax: number
  readonly signal?: AbortSignal | undefined
}

/** Yields the ids of all small files that the repository stores, also of unreachable commits. */
export async function* listStoredSmallFiles(
  git: Git,
  path: string,
  { bytesMax, signal }: StoredFilesInput,
): AsyncGenerator<readonly string[]> {
  const format = '%(objecttype) %(objectsize) %(objectname)'
  const args = ['cat-file', '--batch-all-objects', '--unordered', `--batch-check=${format}`]
  const timeoutMs = MAINTENANCE_STEP_MS
  let ids: string[] = []
  const options = { cwd: path, separator: '\n', signal, timeoutMs } as const
  for await (const lines of gitRecordBatches(git, args, options)) {
    for (const line of lines) {
      const [type, bytes, id] = line.split(' ')
      if (type === 'blob' && id !== undefined && Number(bytes) <= bytesMax) ids.push(id)
    }
    if (ids.length < EXAMINED) continue
    yield ids
    ids = []
  }
  if (ids.length > 0) yield ids
}

async function filesAmong(
  git: Git,
  ids: readonly string[],
  options: Parameters<typeof gitRecords>[2],
): Promise<readonly string[]> {
  const input = ids.map((id) => `${fullId(id)}\n`).join('')
  const check = ['cat-file', '--batch-check=%(objecttype) %(objectname)']
  const files: string[] = []
  for await (const line of gitRecords(git, check, { ...options, input })) {
    if (line.startsWith('blob ')) files.push(line.slice('blob '.length))
  }
  return files
}
