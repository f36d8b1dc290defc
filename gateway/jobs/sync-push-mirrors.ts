/** Job of every minute that enqueues the pushes to push mirrors that are due. */

import { enqueueJob } from '../../sql/admin/jobs.js'
import { listDuePushMirrors } from '../../sql/repositories/push-mirrors.js'
import type { JobKind } from './job.js'
import { SYNC_PUSH_MIRROR } from './sync-push-mirror.js'

const MINUTE_MS = 60_000
const MIRRORS_MAX = 1_000

export const SYNC_PUSH_MIRRORS: JobKind = {
  kind: 'sync-push-mirrors',
  everyMs: MINUTE_MS,
  async run({ db }) {
    for (const mirrorId of await listDuePushMirrors(db, MIRRORS_MAX)) {
      await enqueueJob(db, { kind: SYNC_PUSH_MIRROR.kind, subject: String(mirrorId), delayMs: 0 })
    }
  },
}
