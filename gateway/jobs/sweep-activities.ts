/** Daily job that removes activities which are older than the oldest that heatmaps show. */

import { removeOldActivities } from '../../sql/accounts/activities.js'
import type { JobKind } from './job.js'

const DAY_MS = 86_400_000
const KEPT_MS = 400 * DAY_MS

export const SWEEP_ACTIVITIES: JobKind = {
  kind: 'sweep-activities',
  everyMs: DAY_MS,
  async run({ db, log }) {
    const removed = await removeOldActivities(db, Date.now() - KEPT_MS)
    if (removed > 0) log.info({ removed }, 'old activities were removed')
  },
}
