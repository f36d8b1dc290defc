/** Daily job that removes unused package files, expired retired versions and old counts. */

import { sweepBlobs } from '../../registry/sweeper.js'
import { deleteOldDownloads } from '../../sql/packages/package-downloads.js'
import { deleteRetired } from '../../sql/packages/retired-versions.js'
import type { JobKind } from './job.js'

const DAY_MS = 86_400_000

export const SWEEP_PACKAGES: JobKind = {
  kind: 'sweep-packages',
  everyMs: DAY_MS,
  async run({ db, log, registry }, _subject, signal) {
    await deleteOldDownloads(db)
    await deleteRetired(db, Date.now() - registry.settings().indexKeptMs, signal)
    const swept = await sweepBlobs({ db, storage: registry.storage, signal })
    if (swept.unused + swept.left > 0) log.info({ swept }, 'unused package files were removed')
  },
}
