/** The PushMirror of this API. */

import { type Static, Type } from 'typebox'
import type { PushMirror } from '../../../sql/repositories/push-mirrors.js'
import type { Repository } from '../../../sql/repositories/repositories.js'
import { nullable, TIME } from '../schema.js'
import { apiTime } from '../times.js'
import { goDuration } from './go-duration.js'

export const PUSH_MIRROR = Type.Object(
  {
    repo_name: Type.String(),
    remote_name: Type.String(),
    remote_address: Type.String(),
    created: TIME,
    last_update: nullable(TIME),
    last_error: Type.String(),
    interval: Type.String(),
    sync_on_commit: Type.Boolean(),
  },
  { $id: 'PushMirror' },
)

/** Returns a push mirror as administrators of the repository see it: without credentials. */
export function pushMirrorObject(
  { name }: Repository,
  mirror: PushMirror,
): Static<typeof PUSH_MIRROR> {
  return {
    repo_name: name,
    remote_name: mirror.remoteName,
    remote_address: mirror.url,
    created: apiTime(mirror.createdAtMs),
    last_update: mirror.triedAtMs === undefined ? null : apiTime(mirror.triedAtMs),
    last_error: mirror.lastError,
    interval: goDuration(mirror.intervalMs),
    sync_on_commit: mirror.syncsOnPush,
  }
}
