/** Heads of pull requests that were fetched with a repository from another server. */

import { isReferenceName } from '../../conf/names.js'
import type { Git } from '../process/git.js'
import { gitRecords } from '../process/git-output.js'
import { RemoteError } from '../transfer/remote.js'
import { type MoveOptions, moveReferences, type ReferenceChange } from './references.js'

const REFERENCE = /^refs\/pull\/([1-9]\d{0,9})\/head$/

/**
 * Removes all references below `refs/pull/` except the heads of pull requests with those numbers.
 * Throws RemoteError if the name of a reference to remove is not valid here.
 */
export async function keepPullHeads(
  git: Git,
  path: string,
  { numbers, journal }: MoveOptions & { readonly numbers: ReadonlySet<number> },
): Promise<void> {
  const removed: ReferenceChange[] = []
  const args = ['for-each-ref', '--format=%(objectname) %(refname)', 'refs/pull']
  for await (const record of gitRecords(git, args, { cwd: path, separator: '\n' })) {
    const at = record.indexOf(' ')
    const [before, name] = [record.slice(0, at), record.slice(at + 1)]
    if (numbers.has(Number(REFERENCE.exec(name)?.[1]))) continue
    // A replacement character means that the name was not UTF-8.
    if (!isReferenceName(name.slice('refs/'.length)) || name.includes('\ufffd')) {
      throw new RemoteError('failed', 'the source has a reference whose name is not valid')
    }
    removed.push({ name, before, after: undefined })
  }
  if (removed.length > 0) await moveReferences(git, path, removed, { journal })
}
