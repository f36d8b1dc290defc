/** Job after pushes that sweeps and repacks a repository or a wiki. */

import { maintainRepository } from '../../cgi/maintenance/maintenance.js'
import { recover } from '../../cgi/maintenance/recovery.js'
import { sweepRepository } from '../../cgi/maintenance/sweeper.js'
import { findRepositoryById, type Repository } from '../../sql/repositories/repositories.js'
import { recordSize, wikiOf } from '../../sql/repositories/wikis.js'
import { repositoryPathOf } from '../request/repository-path.js'
import type { JobKind } from './job.js'

const WIKI = ' wiki'

/** Returns the subject of the job: `12` for the repository 12, and `12 wiki` for its wiki. */
export function maintenanceSubject({ id, isWiki }: Pick<Repository, 'id' | 'isWiki'>): string {
  return `${id}${isWiki ? WIKI : ''}`
}

export const MAINTAIN_REPOSITORY: JobKind = {
  kind: 'maintain-repository',
  storesData: true,
  async run({ settings, log, db, git, journal, pushRecovery }, subject, signal) {
    const find = () => findRepositoryById(db, Number(subject.replace(WIKI, '')))
    const found = await find()
    if (found === undefined) return
    const repository = subject.endsWith(WIKI) ? wikiOf(found) : found
    const path = repositoryPathOf({ settings }, repository)
    try {
      const swept = await sweepRepository(settings.data.dir, path)
      if (swept.length > 0) log.warn({ swept }, 'leftovers of a crash were removed')
      const done = await maintainRepository(git, path, { journal, signal })
      await recordSize(db, repository, done.sizeKib)
      log.info(
        { repository: repository.id, isWiki: repository.isWiki, ...done },
        'a repository was maintained',
      )
    } catch (error) {
      // A stopping process waits for the recovery, so that an orderly stop leaves no stale files.
      if (signal.aborted) await recover(settings.data.dir, log)
      else pushRecovery.recoverPushes()
      // The error is expected if the repository was deleted: its folder is removed immediately.
      if ((await find()) !== undefined) throw error
    }
  },
}
