/** Pull request of a request, refreshed from its repository, and its commit range. */

import type { CommitRange } from '../../../cgi/objects/commit-range.js'
import { notFound } from '../../../conf/failures.js'
import { findPull } from '../../../sql/pulls/pulls.js'
import type { Context } from '../../request/context.js'
import type { RepositoryGrant } from '../code/git-reader.js'
import { isServed, issueOf } from '../issues/issue-access.js'
import { type PullState, refreshPulls } from './refresh-pulls.js'

/** Throws `not_found` if pull requests are disabled in the repository. */
export function refuseWithoutPulls({ repository }: RepositoryGrant): void {
  if (!isServed(repository, { isPull: true })) throw notFound()
}

/** Returns the pull request `{index}`, refreshed. Throws `not_found`. */
export async function pullOf(
  context: Context,
  grant: RepositoryGrant,
  params: Readonly<Record<string, string>>,
): Promise<PullState> {
  const issue = await issueOf(context, grant, params)
  const pull = await findPull(context.db, issue.id)
  if (pull === undefined) throw notFound()
  const [state] = await refreshPulls(context, grant.repository, [{ issue, pull }])
  if (state === undefined) throw notFound()
  return state
}

/**
 * Returns the range of a pull request's commits, from the merge base to the head. Throws
 * `not_found` if they were pruned.
 */
export function rangeOf({ pull, isHeadLost }: Pick<PullState, 'pull' | 'isHeadLost'>): CommitRange {
  if (isHeadLost) throw notFound('The commits of this pull request were pruned.')
  return { from: pull.mergeBase, to: pull.headCommit }
}

/** True if the title of a pull request begins with `WIP:` or `[WIP]`, which marks a draft. */
export function isDraft(title: string): boolean {
  return /^(?:wip:|\[wip\])/i.test(title)
}
