/** Daily job that removes expired sessions, sign-ins that were not completed, and grants. */

import { removeExpiredGrants } from '../../sql/accounts/oauth-grants.js'
import { removeExpiredTickets } from '../../sql/accounts/second-factors.js'
import { removeExpiredChallenges } from '../../sql/accounts/security-keys.js'
import { removeExpiredSessions } from '../../sql/accounts/sessions.js'
import type { JobKind } from './job.js'

const DAY_MS = 86_400_000

export const SWEEP_SESSIONS: JobKind = {
  kind: 'sweep-sessions',
  everyMs: DAY_MS,
  async run({ db, log }) {
    const ended = await removeExpiredSessions(db, Date.now())
    if (ended > 0) log.info({ ended }, 'expired sessions were removed')
    await removeExpiredTickets(db, Date.now())
    await removeExpiredChallenges(db, Date.now())
    const grants = await removeExpiredGrants(db, Date.now())
    if (grants > 0) log.info({ grants }, 'expired grants to applications were removed')
  },
}
