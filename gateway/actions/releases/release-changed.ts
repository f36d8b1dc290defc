/** Events of changed releases. */

import type { User } from '../../../sql/accounts/users.js'
import type { CommitStatus } from '../../../sql/code/commit-statuses.js'
import type { Release } from '../../../sql/releases/releases.js'
import type { Repository } from '../../../sql/repositories/repositories.js'
import { ANONYMOUS } from '../../auth/authenticate.js'
import { commitStatusObject } from '../../objects/code/commit-status-object.js'
import { releaseObject } from '../../objects/releases/release-object.js'
import type { Context } from '../../request/context.js'
import { statusReported } from '../code/commit-checks.js'
import { notifyOfRelease } from '../notifications/notify-users.js'
import { emitIfSubscribed } from '../webhooks/events.js'
import { releaseEvent, statusEvent } from '../webhooks/house-events.js'

export interface ReleaseChange {
  readonly action: 'published' | 'updated' | 'deleted'
  readonly repository: Repository
  /** As it is after the change, or was before it was deleted. */
  readonly release: Release
  /** Who did it. */
  readonly actor: User
}

/** To be told of each change that is in the database; of drafts nobody hears. */
export async function releaseChanged(context: Context, change: ReleaseChange): Promise<void> {
  const { action, repository, release, actor } = change
  if (release.isDraft) return
  if (action === 'published') await notifyOfRelease(context, change)
  await emitIfSubscribed(context, { event: 'release', repository }, async () =>
    releaseEvent(context, {
      action,
      repository,
      sender: actor,
      release: await releaseObject(context, viewOf(change), release),
    }),
  )
}

export interface StatusChange {
  readonly repository: Repository
  readonly status: CommitStatus
  /** Who said it. */
  readonly actor: User
}

/** To be told of each status that is in the database. */
export async function statusChanged(context: Context, change: StatusChange): Promise<void> {
  const { repository, status, actor } = change
  await statusReported(context, { repositoryId: repository.id, commitId: status.commitId })
  await emitIfSubscribed(context, { event: 'status', repository }, async () =>
    statusEvent(context, {
      repository,
      sender: actor,
      sha: status.commitId,
      status: commitStatusObject(context, viewOf(change), status),
    }),
  )
}

function viewOf({ repository, actor }: Pick<ReleaseChange, 'repository' | 'actor'>) {
  return { who: ANONYMOUS, user: actor, repository, mode: 'owner', hasMoved: false } as const
}
