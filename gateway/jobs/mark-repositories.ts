/** Job that renews the markers of repositories: daily of all, and those of a renamed owner. */

import { markRepositories } from '../check/mark-repositories.js'
import type { JobKind } from './job.js'

const DAY_MS = 86_400_000

/** Subject of the periodic job; other subjects are ids of owners. */
const ALL = 'all'

export const MARK_REPOSITORIES: JobKind = {
  kind: 'mark-repositories',
  everyMs: DAY_MS,
  storesData: true,
  async run({ db, settings }, subject, signal) {
    const ownerId = subject === ALL ? undefined : Number(subject)
    await markRepositories({ db, dataDir: settings.data.dir, ownerId, signal })
  },
}
