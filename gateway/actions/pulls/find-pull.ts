/** Which pull request a request is about, as its repository has it now, and what it brings. */

import type { CommitRange } from '../../../cgi/objects/commit-range.js'
import { notFound } from '../../../conf/failures.js'
import { findPull } from '../../../sql/pulls/pulls.js'
import type { Context } from '../../request/context.js'
import type { RepositoryGrant } from '../code/git-reader.js'
import { isServed, issueOf } from '../issues/issue-access.js'
import { type PullState, refreshPulls } from './refresh-pulls.js'

/** Throws `not_found` where the repository has no pull requests. */
export function refuseWithoutPulls({ repository }: RepositoryGrant): void {
  if (!isServed(repository, { isPull: true })) throw notFound()
}

/** The pull request `{index}` as the repository has it now. Throws `not_found`. */
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
 * What a pull request would bring: from where the branches went apart to its head. Throws
 * `not_found` if its commits were pruned.
 */
export function rangeOf({ pull, isHeadLost }: Pick<PullState, 'pull' | 'isHeadLost'>): CommitRange {
  if (isHeadLost) throw notFound('The commits of this pull request were removed.')
  return { from: pull.mergeBase, to: pull.headCommit }
}

/** `WIP:` or `[WIP]` before the title makes a draft of a pull request. */
export function isDraft(title: string): boolean {
  return /^(?:wip:|\[wip\])/i.test(title)
}
