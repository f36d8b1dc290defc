/** Job of every minute that enqueues the updates of mirrors that are due. */

import { enqueueJob } from '../../sql/admin/jobs.js'
import { listDueMirrors } from '../../sql/repositories/repository-sources.js'
import type { JobKind } from './job.js'
import { SYNC_MIRROR } from './sync-mirror.js'

const MINUTE_MS = 60_000
const MIRRORS_MAX = 1_000

export const SYNC_MIRRORS: JobKind = {
  kind: 'sync-mirrors',
  everyMs: MINUTE_MS,
  async run({ db }) {
    for (const repositoryId of await listDueMirrors(db, MIRRORS_MAX)) {
      await enqueueJob(db, { kind: SYNC_MIRROR.kind, subject: String(repositoryId), delayMs: 0 })
    }
  },
}
