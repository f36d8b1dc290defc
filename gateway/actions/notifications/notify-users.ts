/** People are told of what happens; who they are, a job finds out. */

import type { User } from '../../../sql/accounts/users.js'
import type { Issue } from '../../../sql/issues/issues.js'
import type { Repository } from '../../../sql/repositories/repositories.js'
import type { Context } from '../../request/context.js'

export interface IssueNotification {
  readonly repository: Pick<Repository, 'id'>
  readonly issue: Pick<Issue, 'number'>
  /** Who did it, and is not told. */
  readonly actor: Pick<User, 'id'>
  /** By default everybody who takes part or watches; else those who were just asked. */
  readonly to?: 'assignees' | 'reviewers'
}

/** Tells of something new about an issue or a pull request. Never rejects. */
export async function notifyOfIssue(
  context: Context,
  notification: IssueNotification,
): Promise<void> {
  const { repository, issue, actor, to = 'everybody' } = notification
  await context.upkeep.peopleAreToKnow({
    repositoryId: repository.id,
    actorId: actor.id,
    about: { issueNumber: issue.number, to },
  })
}

/** Tells of a release that was published. Never rejects. */
export async function notifyOfRelease(
  context: Context,
  {
    repository,
    release,
    actor,
  }: Pick<IssueNotification, 'repository' | 'actor'> & {
    readonly release: { readonly id: number }
  },
): Promise<void> {
  await context.upkeep.peopleAreToKnow({
    repositoryId: repository.id,
    actorId: actor.id,
    about: { releaseId: release.id },
  })
}
