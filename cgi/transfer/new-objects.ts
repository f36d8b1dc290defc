/** The objects that new tips of a repository reach and former ones do not, as a pack. */

import { type Git, gitEnvironment, gitError, NO_REPLACEMENTS, startGit } from '../process/git.js'
import { fullId, gitRecordBatches } from '../process/git-output.js'
import { lowerPriority, TRANSFER_NICENESS } from '../process/priority.js'

/** Environment in which the set does not depend on a repository's replacements and settings. */
const ENVIRONMENT = {
  ...NO_REPLACEMENTS,
  // This setting of git 2.42 and later makes bitmaps inexact, as git-config(1) says.
  GIT_CONFIG_COUNT: '1',
  GIT_CONFIG_KEY_0: 'pack.useBitmapBoundaryTraversal',
  GIT_CONFIG_VALUE_0: 'false',
}

/** A set of new objects, and the form of their pack. */
export interface NewObjects {
  readonly wants: readonly string[]
  /** Tips that reach no object of the set. */
  readonly known: readonly string[]
  /** True if files are left out, except for those that are wanted by their ids. */
  readonly withoutFiles: boolean
  /** True for the annotated tags of the objects as well. */
  readonly includesTags: boolean
  /** True if a delta may name its base by its position. */
  readonly hasOffsetDeltas: boolean
  /** Maximum length of the pack; a larger set is left to another way. */
  readonly bytesMax: number
  readonly signal: AbortSignal
  readonly timeoutMs: number
}

/** Minimum length of an object in a pack: a header, and compressed data of no bytes. */
const OBJECT_BYTES_MIN = 9

/**
 * Returns a thin pack of the set: deltas may have bases that `known` reaches. Returns undefined if
 * it is too large, or if git cannot name exactly these objects. Throws if git fails.
 */
export async function packNewObjects(
  git: Git,
  path: string,
  objects: NewObjects,
): Promise<Buffer | undefined> {
  const count = await countExactly(git, path, objects)
  const pack = count === undefined ? undefined : await packThin(git, path, objects)
  return pack?.readUInt32BE(PACK_COUNT_OFFSET) === count ? pack : undefined
}

/** Position of the number of objects in a pack (gitformat-pack(5)). */
const PACK_COUNT_OFFSET = 8

/**
 * Counts the set by a bitmap. Without one, git would exclude only the trees at the boundary, and
 * list a file again that is back in its old version. It then prints paths, or spaces, after the
 * ids of trees and files, and a bitmap has none.
 */
async function countExactly(
  git: Git,
  path: string,
  { wants, known, withoutFiles, bytesMax, signal }: NewObjects,
): Promise<number | undefined> {
  const args = ['rev-list', '--objects', '--use-bitmap-index', ...filterOf(withoutFiles), '--stdin']
  const input = difference(wants, known)
  const options = { cwd: path, input, environment: ENVIRONMENT, signal, separator: '\n' } as const
  let count = 0
  for await (const batch of gitRecordBatches(git, args, options)) {
    if (batch.some((line) => line.includes(' '))) return undefined
    count += batch.length
    if (count * OBJECT_BYTES_MIN > bytesMax) return undefined
  }
  return count
}

async function packThin(
  git: Git,
  path: string,
  { wants, known, withoutFiles, includesTags, hasOffsetDeltas, bytesMax, ...limits }: NewObjects,
): Promise<Buffer | undefined> {
  const args = [
    ...filterOf(withoutFiles),
    ...(includesTags ? ['--include-tag'] : []),
    ...(hasOffsetDeltas ? ['--delta-base-offset'] : []),
  ]
  const command = ['pack-objects', '--revs', '--thin', '--stdout', '--quiet', ...args]
  const running = await startGit(git, 'fetch', [git.file, ...command], {
    cwd: path,
    environment: { ...gitEnvironment(git, { config: [] }), ...ENVIRONMENT },
    ...limits,
  })
  lowerPriority(running.pid, TRANSFER_NICENESS)
  void running.input.write(Buffer.from(difference(wants, known))).then(() => running.input.end())
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of running.output) {
    bytes += chunk.byteLength
    if (bytes > bytesMax) return undefined
    chunks.push(chunk)
  }
  const end = await running.ended
  if (end.exitCode !== 0) throw gitError('pack-objects', end)
  return Buffer.concat(chunks)
}

function filterOf(withoutFiles: boolean): readonly string[] {
  return withoutFiles ? ['--filter=blob:none'] : []
}

function difference(wants: readonly string[], known: readonly string[]): string {
  return [...wants.map(fullId), ...known.map((oid) => `^${fullId(oid)}`), ''].join('\n')
}
