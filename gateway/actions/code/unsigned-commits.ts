/** Search for commits without a verified signature among those that a change adds to a branch. */

import { parseCommit } from '../../../cgi/objects/commit-object.js'
import { listAddedCommits } from '../../../cgi/objects/commit-range.js'
import { withObjects } from '../../../cgi/objects/with-objects.js'
import type { Context } from '../../request/context.js'
import { signedCommit, verifySignatures } from './verify-signatures.js'

/** Maximum number of commits that one change may add. */
const COMMITS_MAX = 5_000
/** Number of commits that are in memory and are verified together. */
const COMMITS_TOGETHER = 50

/**
 * Returns why a change of a branch that requires signatures is refused, as the end of a sentence
 * that begins with the branch; undefined if all added commits are verified.
 */
export async function findUnsignedCommit(
  context: Context,
  path: string,
  { before, after }: { readonly before: string | undefined; readonly after: string },
  quarantine?: Readonly<Record<string, string>>,
): Promise<string | undefined> {
  const { git } = context
  const limit = COMMITS_MAX + 1
  const ids = await listAddedCommits(git, path, { before, after, limit }, quarantine)
  if (ids.length > COMMITS_MAX) {
    return `requires signatures, and a push with more than ${COMMITS_MAX} commits is not verified`
  }
  for (let start = 0; start < ids.length; start += COMMITS_TOGETHER) {
    const part = ids.slice(start, start + COMMITS_TOGETHER)
    const commits = await withObjects(
      git,
      path,
      async (objects) => {
        const found = await Promise.all(part.map((id) => objects.read(id)))
        return found.flatMap((object) =>
          object?.content ? parseCommit(object.id, object.content) : [],
        )
      },
      quarantine,
    )
    const verifications = await verifySignatures(context, commits.map(signedCommit))
    const at = part.findIndex((_, place) => !verifications[place]?.isVerified)
    if (at >= 0) return `is protected from unverified commit ${part[at]}`
  }
  return undefined
}
