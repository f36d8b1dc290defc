/** Daily job that removes package files to which no version refers, and completes versions. */

import { sweepBlobs } from '../../registry/sweeper.js'
import { setVersionOwners } from '../../sql/packages/package-lists.js'
import type { JobKind } from './job.js'

const DAY_MS = 86_400_000

export const SWEEP_PACKAGES: JobKind = {
  kind: 'sweep-packages',
  everyMs: DAY_MS,
  async run({ db, log, registry }, _subject, signal) {
    await setVersionOwners(db)
    const swept = await sweepBlobs({ db, storage: registry.storage, signal })
    if (swept.unused + swept.left > 0) log.info({ swept }, 'unused package files were removed')
  },
}
