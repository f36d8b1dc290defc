/** Daily job that enqueues the enabled cleanup rules of packages, and the job that applies one. */

import { applyRule } from '../../registry/cleanup.js'
import { enqueueJob } from '../../sql/admin/jobs.js'
import {
  findCleanupRuleById,
  listEnabledRuleIds,
  recordCleanupRun,
} from '../../sql/packages/cleanup-rules.js'
import type { JobKind } from './job.js'

const DAY_MS = 86_400_000
const BATCH = 200

/** Job of one rule; its subject is the rule's id. */
export const CLEAN_PACKAGES: JobKind = {
  kind: 'clean-packages',
  async run({ db, log, registry }, subject, signal) {
    const rule = await findCleanupRuleById(db, Number(subject))
    if (!rule?.isEnabled) return
    const run = await applyRule(registry, rule, signal)
    if (run === undefined) return
    await recordCleanupRun(db, rule.id, run)
    const { id, ownerId, format } = rule
    log.info({ rule: id, owner: ownerId, format, ...run }, 'a cleanup rule was applied')
  },
}

export const CLEAN_ALL_PACKAGES: JobKind = {
  kind: 'clean-all-packages',
  everyMs: DAY_MS,
  async run({ db }) {
    for (let afterId = 0; ; ) {
      const ids = await listEnabledRuleIds(db, { afterId, limit: BATCH })
      for (const id of ids) {
        await enqueueJob(db, { kind: CLEAN_PACKAGES.kind, subject: String(id), delayMs: 0 })
        afterId = id
      }
      if (ids.length < BATCH) return
    }
  },
}
