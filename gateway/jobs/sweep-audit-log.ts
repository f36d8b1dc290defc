/** Daily job that removes audit entries which are older than the setting `audit.kept_days`. */

import { removeOldAuditEntries } from '../../sql/admin/audit.js'
import type { JobKind } from './job.js'

const DAY_MS = 86_400_000

export const SWEEP_AUDIT_LOG: JobKind = {
  kind: 'sweep-audit-log',
  everyMs: DAY_MS,
  async run({ db, log, settings }) {
    const beforeMs = Date.now() - settings.audit.keptDays * DAY_MS
    const entries = await removeOldAuditEntries(db, beforeMs)
    if (entries > 0) log.info({ entries }, 'old entries of the audit log were removed')
  },
}
