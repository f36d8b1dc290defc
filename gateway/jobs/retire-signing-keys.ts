/** Hourly job that retires package signing keys whose overlap with the next key has ended. */

import { retireDueKeys } from '../../sql/packages/signing-keys.js'
import type { JobKind } from './job.js'

const HOUR_MS = 3_600_000

export const RETIRE_SIGNING_KEYS: JobKind = {
  kind: 'retire-signing-keys',
  everyMs: HOUR_MS,
  async run({ db, log }) {
    const retired = await retireDueKeys(db)
    if (retired > 0) log.info({ retired }, 'signing keys were retired')
  },
}
