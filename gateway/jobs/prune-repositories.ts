/** Hourly job that enqueues the pruning of a part of the repositories, if it is enabled. */

import { enqueueJob } from '../../sql/admin/jobs.js'
import { listRepositoryPart } from '../../sql/repositories/all-repositories.js'
import { pruneSubject } from '../actions/repositories/prune-repository.js'
import type { JobKind } from './job.js'
import { PRUNE_REPOSITORY } from './prune-repository.js'

const HOUR_MS = 3_600_000

/** Prunes each repository in one hour of `maintenance.prune_every`, which depends on its id. */
export const PRUNE_REPOSITORIES: JobKind = {
  kind: 'prune-repositories',
  everyMs: HOUR_MS,
  async run({ settings, db }) {
    const { everyMs } = settings.maintenance.prune
    if (everyMs === undefined) return
    const count = Math.max(1, Math.round(everyMs / HOUR_MS))
    const part = Math.floor(Date.now() / HOUR_MS) % count
    for (const repositoryId of await listRepositoryPart(db, { part, count })) {
      const subject = pruneSubject({ repositoryId })
      await enqueueJob(db, { kind: PRUNE_REPOSITORY.kind, subject, delayMs: 0 })
    }
  },
}
