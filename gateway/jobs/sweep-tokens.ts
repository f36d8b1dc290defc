/** Daily job that removes expired tokens. */

import { removeExpiredTokens } from '../../sql/accounts/tokens.js'
import type { JobKind } from './job.js'

const DAY_MS = 86_400_000

/** Time for which an expired token stays in its owner's list, to explain why it is refused. */
const KEPT_MS = 30 * DAY_MS

export const SWEEP_TOKENS: JobKind = {
  kind: 'sweep-tokens',
  everyMs: DAY_MS,
  async run({ db, log }) {
    const removed = await removeExpiredTokens(db, Date.now() - KEPT_MS)
    if (removed > 0) log.info({ removed }, 'expired tokens were removed')
  },
}
