/** Hourly job that removes the leftovers of crashes from the repositories. */

import { sweepBeats } from '../../cgi/maintenance/beats.js'
import { recover } from '../../cgi/maintenance/recovery.js'
import { sweepRepositories } from '../../cgi/maintenance/sweeper.js'
import { sweepPushDecisionRequests } from '../../cgi/refs/push-decision-request.js'
import { sweepUpdateLists } from '../../cgi/refs/update-list.js'
import { isHeld } from '../../sql/admin/holds.js'
import { sweepImports } from '../actions/repositories/sweep-imports.js'
import type { JobKind } from './job.js'

const HOUR_MS = 3_600_000

export const SWEEP_REPOSITORIES: JobKind = {
  kind: 'sweep-repositories',
  everyMs: HOUR_MS,
  async run({ settings, log, db }, _subject, signal) {
    const imports = await sweepImports(db, settings.data.dir)
    if (imports > 0) log.warn({ imports }, 'imports that a crash interrupted were removed')
    await sweepPushDecisionRequests(settings.data.dir)
    // Recovers pushes of a killed gateway on this machine, and those whose recovery has failed.
    await recover(settings.data.dir, log)
    await sweepUpdateLists(settings.data.dir)
    await sweepBeats(settings.data.dir)
    const swept = await sweepRepositories(settings.data.dir, {
      signal,
      isHeld: () => isHeld(db),
    })
    if (swept.length > 0) log.warn({ swept }, 'leftovers of a crash were removed')
  },
}
