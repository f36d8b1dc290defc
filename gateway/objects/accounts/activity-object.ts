/** The Activity of this API: an action of a user in a repository. */

import { type Static, Type } from 'typebox'
import type { Activity } from '../../../sql/accounts/activities.js'
import { findOwnersById } from '../../../sql/accounts/owners.js'
import { findRepositoriesById } from '../../../sql/repositories/repositories.js'
import type { Identity } from '../../auth/authenticate.js'
import type { Context } from '../../request/context.js'
import { REPOSITORY_OBJECT, repositoryObjects } from '../repositories/repository-object.js'
import { apiTime } from '../times.js'
import { personObject, USER_OBJECT } from './user-object.js'

export const ACTIVITY = Type.Object(
  {
    id: Type.Integer(),
    user_id: Type.Integer(),
    op_type: Type.String(),
    act_user_id: Type.Integer(),
    act_user: USER_OBJECT,
    repo_id: Type.Integer(),
    repo: REPOSITORY_OBJECT,
    comment_id: Type.Integer(),
    ref_name: Type.String(),
    is_private: Type.Boolean(),
    content: Type.String(),
    created: Type.String({ format: 'date-time' }),
  },
  { $id: 'Activity' },
)

/** Returns activities, all of which `who` can see. `ownerId` is the owner of the feed. */
export async function activityObjects(
  context: Context,
  activities: readonly Activity[],
  { who, ownerId }: { readonly who: Identity; readonly ownerId: number },
): Promise<readonly Static<typeof ACTIVITY>[]> {
  const actors = await findOwnersById(
    context.db,
    activities.map(({ actorId }) => actorId),
  )
  const ids = [...new Set(activities.map(({ repositoryId }) => repositoryId))]
  const repositories = await findRepositoriesById(context.db, ids)
  const objects = await repositoryObjects(context, repositories, who)
  const objectsById = new Map(objects.map((object) => [object.id, object]))
  const viewer = who.kind === 'user' ? who.user : undefined
  return activities.flatMap((activity) => {
    const repo = objectsById.get(activity.repositoryId)
    if (repo === undefined) return []
    return {
      id: activity.id,
      user_id: ownerId,
      op_type: activity.kind,
      act_user_id: activity.actorId,
      act_user: personObject(context, actors.get(activity.actorId), viewer),
      repo_id: repo.id,
      repo,
      comment_id: activity.commentId ?? 0,
      ref_name: activity.refName,
      is_private: repo.private,
      content: activity.content,
      created: apiTime(activity.createdAtMs),
    }
  })
}
