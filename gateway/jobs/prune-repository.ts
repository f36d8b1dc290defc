/** The job that prunes one repository, as its subject says. */

import { recover } from '../../cgi/maintenance/recovery.js'
import { findRepositoryById } from '../../sql/repositories/repositories.js'
import { parsePruneSubject, pruneNow } from '../actions/repositories/prune-repository.js'
import type { JobKind } from './job.js'

export const PRUNE_REPOSITORY: JobKind = {
  kind: 'prune-repository',
  async run(context, subject, signal) {
    const { settings, log, db, pushRecovery } = context
    const { repositoryId, ...order } = parsePruneSubject(subject)
    const find = () => findRepositoryById(db, repositoryId)
    const repository = await find()
    if (repository === undefined) return
    try {
      const pruned = await pruneNow(context, repository, { ...order, signal })
      log.info({ repository: repositoryId, ...pruned }, 'a repository was pruned')
    } catch (error) {
      // Who stops waits for it, so that an orderly end leaves nothing.
      if (signal.aborted) await recover(settings.data.dir)
      else pushRecovery.recoverPushes()
      // Its folder goes as soon as it is deleted, whoever is at work there.
      if ((await find()) !== undefined) throw error
    }
  },
}
