/** Daily job that removes expired tokens, sessions, sign-ins, grants and audit entries. */

import { removeExpiredGrants } from '../../sql/accounts/oauth-grants.js'
import { removeExpiredTickets } from '../../sql/accounts/second-factors.js'
import { removeExpiredChallenges } from '../../sql/accounts/security-keys.js'
import { removeExpiredSessions } from '../../sql/accounts/sessions.js'
import { removeExpiredTokens } from '../../sql/accounts/tokens.js'
import { removeOldAuditEntries } from '../../sql/admin/audit.js'
import type { JobKind } from './job.js'

const DAY_MS = 86_400_000

/** Time for which an expired token stays in its owner's list, to explain why it is refused. */
const KEPT_MS = 30 * DAY_MS

export const SWEEP_TOKENS: JobKind = {
  kind: 'sweep-tokens',
  everyMs: DAY_MS,
  async run({ db, log, settings }) {
    const removed = await removeExpiredTokens(db, Date.now() - KEPT_MS)
    if (removed > 0) log.info({ removed }, 'expired tokens were removed')
    const ended = await removeExpiredSessions(db, Date.now())
    if (ended > 0) log.info({ ended }, 'expired sessions were removed')
    const beforeMs = Date.now() - settings.audit.keptDays * DAY_MS
    const entries = await removeOldAuditEntries(db, beforeMs)
    if (entries > 0) log.info({ entries }, 'old entries of the audit log were removed')
    await removeExpiredTickets(db, Date.now())
    await removeExpiredChallenges(db, Date.now())
    const grants = await removeExpiredGrants(db, Date.now())
    if (grants > 0) log.info({ grants }, 'expired grants to applications were removed')
  },
}
