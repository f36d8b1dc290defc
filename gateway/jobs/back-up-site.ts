/** Periodic job that adds a backup to the folder of `backup.dir`, and removes old ones. */

import { findLastBackup } from '../../sql/admin/backups.js'
import { pruneSnapshots } from '../backup/prune-snapshots.js'
import { takeRecordedBackup } from '../backup/recorded-backup.js'
import type { JobKind } from './job.js'

/** Interval of the question whether a backup is due. */
const EVERY_MS = 300_000

const PROBLEMS_LOGGED_MAX = 20

/**
 * Begins a backup if none was completed in the present interval. A failed one is tried again by the
 * queue, and in the next call. Backups of commands into the same folder count too.
 */
export const BACK_UP_SITE: JobKind = {
  kind: 'back-up-site',
  everyMs: EVERY_MS,
  async run({ settings, db, log, registry }, _subject, signal) {
    const { dir, everyMs, atMs, keep } = settings.backup
    if (dir === undefined) return
    const intervalOf = (timeMs: number) => Math.floor((timeMs - atMs) / everyMs)
    const last = await findLastBackup(db, { target: dir, outcomes: ['complete', 'incomplete'] })
    if (last !== undefined && intervalOf(last.startedAtMs) >= intervalOf(Date.now())) return
    const context = { db, settings, storage: registry.storage }
    const { id, manifest } = await takeRecordedBackup(context, dir, signal)
    const { problems } = manifest
    if (problems.length > 0) {
      const about = { dir, snapshot: id, problems: problems.slice(0, PROBLEMS_LOGGED_MAX) }
      log.error(about, 'a backup lacks data that the site had lost before')
    }
    const { snapshots } = await pruneSnapshots(dir, keep)
    log.info({ dir, snapshot: id, removed: snapshots }, 'a backup was added')
  },
}
