/** Closing and reopening of pull requests, which is refused after a merge. */

import { Failure } from '../../../conf/failures.js'
import type { Issue, IssueState } from '../../../sql/issues/issues.js'
import { findPull, type Pull, setTargets } from '../../../sql/pulls/pulls.js'
import type { Context } from '../../request/context.js'

/** Throws `precondition_failed` if the state of a merged pull request would change. */
export function refuseStateChange(issue: Issue, pull: Pull, state: IssueState | undefined): void {
  if (state === undefined || state === issue.state || pull.mergedAtMs === undefined) return
  throw new Failure(
    'precondition_failed',
    'cannot change state of this pull request, it was already merged',
  )
}

/**
 * Prepares a pull request for a new state of its issue. Does nothing for other issues. Throws
 * `precondition_failed` if it is merged, and `conflict` if another one is open for the branches.
 */
export async function changePullState(
  { db }: Context,
  issue: Issue,
  state: IssueState | undefined,
): Promise<void> {
  const pull = issue.isPull ? await findPull(db, issue.id) : undefined
  if (pull === undefined) return
  refuseStateChange(issue, pull, state)
  if (state === 'open' && issue.state === 'closed') await setTargets(db, issue, pull)
}
