/** Packs for clients that have the files of some commit, and not those of another one. */

import { type Git, NO_REPLACEMENTS } from '../process/git.js'
import { fullId, gitOutput, gitRecordBatches } from '../process/git-output.js'
import { withPacks } from './packed-objects.js'
import { smallPack, UPDATE_LIMITS } from './small-pack.js'

/** Maximum number of comparisons that are made without a process. */
const SMALL_PAIRS_MAX = 64

/** Contents of a pack. */
export interface UpdateContents {
  /**
   * Pairs of commits. The pack has the first one of each pair, and its trees and files that the
   * second one does not have.
   */
  readonly pairs: ReadonlyArray<readonly [commit: string, other: string]>
  /** True if deltas may name their base by its position. */
  readonly hasOffsetDeltas: boolean
  /** Maximum size of the pack in bytes. */
  readonly bytesMax: number
}

/**
 * Returns a pack that needs no other objects to be complete; undefined if it is too long. Throws an
 * Error if a commit is missing.
 */
export async function updatePack(
  git: Git,
  path: string,
  { pairs, hasOffsetDeltas, bytesMax }: UpdateContents,
  signal: AbortSignal,
): Promise<Buffer | undefined> {
  const oids = await changedObjects(git, path, pairs, signal)
  const form = hasOffsetDeltas ? ['--delta-base-offset'] : []
  const args = ['pack-objects', '--stdout', '-q', '--threads=1', ...form]
  const input = `${[...oids].join('\n')}\n`
  const chunks: Buffer[] = []
  let bytes = 0
  const options = { cwd: path, environment: NO_REPLACEMENTS, input, signal }
  for await (const chunk of gitOutput(git, args, options)) {
    bytes += chunk.byteLength
    if (bytes > bytesMax) return undefined
    chunks.push(Buffer.from(chunk))
  }
  return Buffer.concat(chunks)
}

/** Makes the pack without a process, of whole objects; undefined if git must make it. */
export async function smallUpdatePack(
  path: string,
  { pairs, bytesMax }: Pick<UpdateContents, 'pairs' | 'bytesMax'>,
): Promise<Buffer | undefined> {
  if (pairs.length > SMALL_PAIRS_MAX) return undefined
  const limits = { ...UPDATE_LIMITS, bytesMax: Math.min(bytesMax, UPDATE_LIMITS.bytesMax) }
  return (await withPacks(path, (packs) => smallPack(packs, { pairs, ...limits })))?.bytes
}

const SUBMODULE_MODE = '160000'
const ABSENT_MODE = '000000'

async function changedObjects(
  git: Git,
  path: string,
  pairs: UpdateContents['pairs'],
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  // Each pair has a line with its commit and the root tree, and lines of changed entries.
  const args = ['diff-tree', '--stdin', '-r', '-t', '--always', '--no-renames', '--format=%H %T']
  const input = `${pairs.map((pair) => pair.map(fullId).join(' ')).join('\n')}\n`
  const environment = NO_REPLACEMENTS
  const options = { cwd: path, environment, input, signal, separator: '\n' } as const
  const oids = new Set<string>()
  for await (const lines of gitRecordBatches(git, args, options)) {
    for (const line of lines) {
      const words = line.split(' ', 5)
      if (!line.startsWith(':')) for (const oid of words) oids.add(oid)
      else if (words[1] !== SUBMODULE_MODE && words[1] !== ABSENT_MODE) oids.add(words[3] ?? '')
    }
  }
  oids.delete('')
  return oids
}
