/** The RepoTransfer of this API: a transfer that waits for the answer of the new owner. */

import { type Static, Type } from 'typebox'
import { findOwnersById } from '../../../sql/accounts/owners.js'
import { atLeast, type RepositoryModes } from '../../../sql/repositories/access.js'
import { findPendingTransfer, isOffered } from '../../../sql/repositories/pending-transfers.js'
import type { Identity } from '../../auth/authenticate.js'
import type { Context } from '../../request/context.js'
import { ownerObject, USER_OBJECT } from '../accounts/user-object.js'
import { TEAM_OBJECT, teamObjectsById } from '../organizations/team-object.js'

export const REPO_TRANSFER_OBJECT = Type.Object(
  { doer: USER_OBJECT, recipient: USER_OBJECT, teams: Type.Array(TEAM_OBJECT) },
  { $id: 'RepoTransfer' },
)

/**
 * Returns the pending transfer of a repository; undefined if there is none, or if the caller
 * neither administers the repository nor can accept it, because the recipient may be private.
 */
export async function repoTransferObject(
  context: Context,
  repositoryId: number,
  { modes, who }: { readonly modes: RepositoryModes; readonly who: Identity },
): Promise<Static<typeof REPO_TRANSFER_OBJECT> | undefined> {
  const { db } = context
  const isSeen =
    atLeast(modes.any, 'admin') ||
    (who.kind === 'user' && (await isOffered(db, repositoryId, who.user.id)))
  const pending = isSeen ? await findPendingTransfer(db, repositoryId) : undefined
  if (pending === undefined) return undefined
  const { actorId, recipientId, teamIds } = pending
  const owners = await findOwnersById(db, [actorId, recipientId])
  const [actor, recipient] = [owners.get(actorId), owners.get(recipientId)]
  if (actor === undefined || recipient === undefined) return undefined
  const teams = await teamObjectsById(context, teamIds)
  return {
    doer: ownerObject(context, actor),
    recipient: ownerObject(context, recipient),
    teams: [...teams.values()],
  }
}
