/** Job after pushes that sweeps and repacks a repository; its subject is the repository's id. */

import { maintainRepository } from '../../cgi/maintenance/maintenance.js'
import { recover } from '../../cgi/maintenance/recovery.js'
import { sweepRepository } from '../../cgi/maintenance/sweeper.js'
import { findRepositoryById, updateRepository } from '../../sql/repositories/repositories.js'
import { repositoryPathOf } from '../request/repository-path.js'
import type { JobKind } from './job.js'

export const MAINTAIN_REPOSITORY: JobKind = {
  kind: 'maintain-repository',
  storesData: true,
  async run({ settings, log, db, git, journal, pushRecovery }, subject, signal) {
    const find = () => findRepositoryById(db, Number(subject))
    const repository = await find()
    if (repository === undefined) return
    const path = repositoryPathOf({ settings }, repository)
    try {
      const swept = await sweepRepository(settings.data.dir, path)
      if (swept.length > 0) log.warn({ swept }, 'leftovers of a crash were removed')
      const done = await maintainRepository(git, path, { journal, signal })
      await updateRepository(db, repository.id, { sizeKib: done.sizeKib })
      log.info({ repository: repository.id, ...done }, 'a repository was maintained')
    } catch (error) {
      // A stopping process waits for the recovery, so that an orderly stop leaves no stale files.
      if (signal.aborted) await recover(settings.data.dir, log)
      else pushRecovery.recoverPushes()
      // The error is expected if the repository was deleted: its folder is removed immediately.
      if ((await find()) !== undefined) throw error
    }
  },
}
