/** Changes of refs that API requests and merges make, with their events. */

import { randomUUID } from 'node:crypto'
import { moveReferences, type ReferenceChange } from '../../../cgi/refs/references.js'
import { isFailure } from '../../../conf/failures.js'
import type { User } from '../../../sql/accounts/users.js'
import type { Repository } from '../../../sql/repositories/repositories.js'
import type { Context } from '../../request/context.js'
import { applyPushEffects } from './push-effects.js'
import { refuseMoves } from './ref-judge.js'

export interface MovedReferences {
  readonly repository: Repository
  /** Absolute path of the repository. */
  readonly path: string
  readonly pusher: User
  readonly changes: readonly ReferenceChange[]
}

/**
 * Changes refs, all or none, and publishes the changes. Throws `conflict` if a ref is not at its
 * expected commit or its name conflicts with another ref, and as `refuseMoves` if a protection
 * rule refuses the push. The rules for pushes do not apply to a `merge`, which other rules have
 * permitted.
 */
export async function changeReferences(
  context: Context,
  moved: MovedReferences,
  cause: 'push' | 'merge' = 'push',
): Promise<void> {
  const { git, journal } = context
  if (cause === 'push') await refuseMoves(context, moved)
  try {
    await moveReferences(git, moved.path, moved.changes, { journal })
  } catch (error) {
    if (!isFailure(error, 'conflict')) context.pushRecovery.recoverPushes()
    throw error
  }
  await referencesMoved(context, moved)
}

/**
 * Publishes changes that are on the disk, unless they are of a wiki, and updates the repository's
 * row. Never rejects, and does not wait for the size of the repository.
 */
export async function referencesMoved(
  context: Context,
  { repository, path, pusher, changes }: MovedReferences,
): Promise<void> {
  if (!repository.isWiki) {
    const key = randomUUID()
    await context.events.publish({ kind: 'refs_changed', repository, pusher, changes, key })
  }
  applyPushEffects(context, repository, path).catch((error: unknown) =>
    context.log.warn({ error, path }, 'the effects of a push were not recorded'),
  )
}
