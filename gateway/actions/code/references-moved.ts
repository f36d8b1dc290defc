/** Moving references in a repository, and what follows when they have moved. */

import { moveReferences, type ReferenceChange } from '../../../cgi/refs/references.js'
import { isFailure } from '../../../conf/failures.js'
import type { User } from '../../../sql/accounts/users.js'
import type { Repository } from '../../../sql/repositories/repositories.js'
import type { Context } from '../../request/context.js'
import { refuseMoves } from './branch-judge.js'
import { journalPush } from './journal-push.js'
import { recordReferenceEvents } from './reference-events.js'

export interface MovedReferences {
  readonly repository: Repository
  /** The folder of the repository. */
  readonly path: string
  /** Who did it. */
  readonly pusher: User
  readonly changes: readonly ReferenceChange[]
}

/**
 * Moves references, all or none, and says so to whom it concerns. Throws `conflict` where one is
 * not where it was thought to be, or another name is in the way, and `forbidden` where a rule of a
 * branch is. `merge`: the rules for merging have let it through, which are others than for pushes.
 */
export async function changeReferences(
  context: Context,
  moved: MovedReferences,
  deed: 'push' | 'merge' = 'push',
): Promise<void> {
  const { git, journal } = context
  if (deed === 'push') await refuseMoves(context, moved)
  try {
    await moveReferences(git, moved.path, moved.changes, { journal })
  } catch (error) {
    if (!isFailure(error, 'conflict')) context.pushRecovery.recoverPushes()
    throw error
  }
  await referencesMoved(context, moved)
}

/**
 * What follows a move that is on the disk. Never rejects: what has been moved has been moved. The
 * answer does not wait for the measuring of the repository.
 */
export async function referencesMoved(
  context: Context,
  { repository, path, pusher, changes }: MovedReferences,
): Promise<void> {
  await recordReferenceEvents(context, { repository, pusher, changes }).catch((error: unknown) =>
    context.log.warn({ error, path }, 'webhooks were not told of what moved'),
  )
  journalPush(context, repository, path).catch((error: unknown) =>
    context.log.warn({ error, path }, 'a push was not noted'),
  )
}
