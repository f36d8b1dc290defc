/** Refusal to close or merge what depends on an open issue. */

import { Failure } from '../../../conf/failures.js'
import { hasOpenDependency } from '../../../sql/issues/dependencies.js'
import type { Issue, IssueState } from '../../../sql/issues/issues.js'
import type { Context } from '../../request/context.js'

/** Throws `precondition_failed` if an issue that depends on an open issue would be closed. */
export async function refuseEarlyClose(
  { db }: Context,
  issue: Issue,
  state: IssueState | undefined,
): Promise<void> {
  if (state !== 'closed' || issue.state === 'closed') return
  if (!(await hasOpenDependency(db, issue.id))) return
  throw new Failure(
    'precondition_failed',
    'cannot close this issue or pull request because it still has open dependencies',
  )
}

/** Throws `method_not_allowed` if a pull request depends on an open issue. */
export async function refuseEarlyMerge({ db }: Context, { id }: Pick<Issue, 'id'>): Promise<void> {
  if (!(await hasOpenDependency(db, id))) return
  throw new Failure('method_not_allowed', 'The pull request is blocked by an open dependency.')
}
