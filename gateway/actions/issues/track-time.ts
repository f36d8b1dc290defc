/** Tracked times of issues: permission to add, and deletion. */

import { Failure, notFound } from '../../../conf/failures.js'
import type { User } from '../../../sql/accounts/users.js'
import { assigneesOfIssues } from '../../../sql/issues/issue-people.js'
import type { Issue } from '../../../sql/issues/issues.js'
import { deleteTrackedTimes, findTrackedTimes } from '../../../sql/issues/tracked-times.js'
import type { Context } from '../../request/context.js'
import { actingUserOf } from '../code/acting-user.js'
import type { RepositoryGrant } from '../code/git-reader.js'
import { mayChange } from './issue-access.js'

/** A time is at most this long, so that sums of times stay exact. */
export const SECONDS_MAX = 1_000_000_000

/** Returns the caller. Throws `forbidden` unless it is the author, an assignee, or can write. */
export async function timeTrackerOf(
  { db }: Context,
  grant: RepositoryGrant,
  issue: Issue,
): Promise<User> {
  const user = actingUserOf(grant)
  if (mayChange(grant, issue)) return user
  const assignees = (await assigneesOfIssues(db, [issue.id])).get(issue.id) ?? []
  if (assignees.some(({ id }) => id === user.id)) return user
  throw new Failure(
    'forbidden',
    'Only the author, assignees and users with write access can track time.',
  )
}

/** Deletes a time. Throws `not_found`, and `forbidden` if it is another user's. */
export async function removeTime(
  context: Context,
  grant: RepositoryGrant,
  { issue, id }: { readonly issue: Issue; readonly id: number },
): Promise<void> {
  const actor = await timeTrackerOf(context, grant, issue)
  const [time] = await findTrackedTimes(context.db, [id])
  if (time?.issueId !== issue.id) throw notFound()
  if (time.userId !== actor.id && !actor.isAdmin) {
    throw new Failure('forbidden', 'Only the user who spent the time can delete it.')
  }
  const which = { actorId: actor.id, id }
  if ((await deleteTrackedTimes(context.db, issue.id, which)) === 0) throw notFound()
}
