/** Closing a pull request and opening it again, which one that is merged cannot be. */

import { Failure } from '../../../conf/failures.js'
import type { Issue, IssueState } from '../../../sql/issues/issues.js'
import { findPull, type Pull, setTargets } from '../../../sql/pulls/pulls.js'
import type { Context } from '../../request/context.js'

/** Throws `precondition_failed` where a merged one would be opened. */
export function refuseStateChange(issue: Issue, pull: Pull, state: IssueState | undefined): void {
  if (state === undefined || state === issue.state || pull.mergedAtMs === undefined) return
  throw new Failure(
    'precondition_failed',
    'cannot change state of this pull request, it was already merged',
  )
}

/**
 * To be called before a pull request is closed or opened as the issue that it is. Throws
 * `precondition_failed` where it is merged, `conflict` where one of its branches is open.
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
