/** Permission to track time on an issue. */

import { Failure } from '../../../conf/failures.js'
import type { User } from '../../../sql/accounts/users.js'
import { assigneesOfIssues } from '../../../sql/issues/issue-people.js'
import type { Issue } from '../../../sql/issues/issues.js'
import type { Context } from '../../request/context.js'
import { actingUserOf } from '../code/acting-user.js'
import type { RepositoryGrant } from '../code/git-reader.js'
import { mayChange } from './issue-access.js'

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
