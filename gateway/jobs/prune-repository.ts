/** Job that prunes one repository; its subject has the repository's id and the options. */

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
      // A stopping process waits for the recovery, so that an orderly stop leaves no stale files.
      if (signal.aborted) await recover(settings.data.dir)
      else pushRecovery.recoverPushes()
      // The error is expected if the repository was deleted: its folder is removed immediately.
      if ((await find()) !== undefined) throw error
    }
  },
}
