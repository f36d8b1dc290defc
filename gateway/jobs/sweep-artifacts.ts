/** Hourly job that deletes expired artifacts, and uploads that their job has not completed. */

import { removeDeadArtifacts } from '../../sql/runs/artifacts.js'
import type { JobKind } from './job.js'

const HOUR_MS = 3_600_000
const BATCH = 200

export const SWEEP_ARTIFACTS: JobKind = {
  kind: 'sweep-artifacts',
  everyMs: HOUR_MS,
  async run({ db, log }, _subject, signal) {
    let removed = 0
    for (let last = BATCH; last >= BATCH && !signal.aborted; removed += last) {
      last = await removeDeadArtifacts(db, Date.now(), BATCH)
    }
    // The sweep of packages frees their bytes.
    if (removed > 0) log.info({ removed }, 'expired and abandoned artifacts were removed')
  },
}
