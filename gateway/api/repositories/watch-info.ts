/** The WatchInfo of this API: a user's subscription to a repository or an issue. */

import { type Static, Type } from 'typebox'
import type { Repository } from '../../../sql/repositories/repositories.js'
import { nullable, TIME } from '../../objects/schema.js'
import { apiTime } from '../../objects/times.js'
import type { Context } from '../../request/context.js'

export const WATCH_INFO = Type.Object(
  {
    subscribed: Type.Boolean(),
    ignored: Type.Boolean(),
    reason: nullable(Type.Unsafe<object>({ type: 'object' })),
    created_at: TIME,
    url: Type.String(),
    repository_url: Type.String(),
  },
  { $id: 'WatchInfo' },
)

/**
 * Returns a WatchInfo. `createdAtMs` is the creation time of the watched repository or issue, and
 * `path` is the path of the subscription below the repository.
 */
export function watchInfo(
  context: Context,
  { owner, name }: Repository,
  {
    isSubscribed,
    createdAtMs,
    path,
  }: { readonly isSubscribed: boolean; readonly createdAtMs: number; readonly path: string },
): Static<typeof WATCH_INFO> {
  const url = `${context.settings.http.baseUrl}/api/v1/repos/${owner.name}/${name}`
  return {
    subscribed: isSubscribed,
    ignored: !isSubscribed,
    reason: null,
    created_at: apiTime(createdAtMs),
    url: `${url}${path}`,
    repository_url: url,
  }
}
