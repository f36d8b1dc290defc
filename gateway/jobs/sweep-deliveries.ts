/** Daily job that removes old deliveries of webhooks. */

import { removeOldDeliveries } from '../../sql/webhooks/webhook-deliveries.js'
import type { JobKind } from './job.js'

const DAY_MS = 86_400_000

export const SWEEP_DELIVERIES: JobKind = {
  kind: 'sweep-deliveries',
  everyMs: DAY_MS,
  async run({ db, log, settings }) {
    const removed = await removeOldDeliveries(db, Date.now() - settings.webhooks.keptMs)
    if (removed > 0) log.info({ removed }, 'old deliveries to webhooks were removed')
  },
}
