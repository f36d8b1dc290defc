/** Types of background jobs. */

import type { Journal } from '../../cgi/maintenance/journal.js'
import type { Git } from '../../cgi/process/git.js'
import type { Log } from '../../conf/log.js'
import type { Settings } from '../../conf/settings.js'
import type { Registry } from '../../registry/registry.js'
import type { Database } from '../../sql/database/database.js'
import type { DiskWatch } from '../request/disk-watch.js'

/** Dependencies of all jobs. */
export interface JobContext {
  readonly settings: Settings
  readonly log: Log
  readonly db: Database
  readonly disk: DiskWatch
  readonly git: Git
  readonly journal: Journal
  readonly registry: Registry
  /** Recovery of repositories, which must be started after git was interrupted in its work. */
  readonly pushRecovery: { recoverPushes(): void }
}

/**
 * A kind of job. Its work must tolerate being interrupted anywhere, run again from its start, and
 * run concurrently with itself: leases prevent that only if clocks agree and no machine pauses.
 */
export interface JobKind {
  readonly kind: string
  /** Interval of a periodic job, whose only subject is `all`; absent for other jobs. */
  readonly everyMs?: number
  /** True if the job is not started while the disk is full. */
  readonly storesData?: true
  readonly run: (context: JobContext, subject: string, signal: AbortSignal) => Promise<void>
}
