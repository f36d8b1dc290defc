/** The heads of pull requests that came along with a repository from elsewhere. */

import { isReferenceName } from '../../conf/names.js'
import type { Git } from '../process/git.js'
import { gitRecords } from '../process/git-output.js'
import { RemoteError } from '../transfer/remote.js'
import { type MoveOptions, moveReferences, type ReferenceChange } from './references.js'

const REFERENCE = /^refs\/pull\/([1-9]\d{0,9})\/head$/

/**
 * Removes what there is below `refs/pull/` but the heads of pull requests with those numbers.
 * Throws RemoteError for names that cannot be named here.
 */
export async function keepPullHeads(
  git: Git,
  path: string,
  { numbers, journal }: MoveOptions & { readonly numbers: ReadonlySet<number> },
): Promise<void> {
  const gone: ReferenceChange[] = []
  const args = ['for-each-ref', '--format=%(objectname) %(refname)', 'refs/pull']
  for await (const record of gitRecords(git, args, { cwd: path, separator: '\n' })) {
    const at = record.indexOf(' ')
    const [before, name] = [record.slice(0, at), record.slice(at + 1)]
    if (numbers.has(Number(REFERENCE.exec(name)?.[1]))) continue
    // The second: it was no UTF-8.
    if (!isReferenceName(name.slice('refs/'.length)) || name.includes('\ufffd')) {
      throw new RemoteError('failed', 'the source has a reference of a name that nobody can write')
    }
    gone.push({ name, before, after: undefined })
  }
  if (gone.length > 0) await moveReferences(git, path, gone, { journal })
}
