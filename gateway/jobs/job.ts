/** What a kind of job is: its name, and what is done to a subject. */

import type { Journal } from '../../cgi/maintenance/journal.js'
import type { Git } from '../../cgi/process/git.js'
import type { Log } from '../../conf/log.js'
import type { Settings } from '../../conf/settings.js'
import type { Registry } from '../../registry/registry.js'
import type { Database } from '../../sql/database/database.js'
import type { DiskWatch } from '../request/disk-watch.js'

/** What every job may reach. */
export interface JobContext {
  readonly settings: Settings
  readonly log: Log
  readonly db: Database
  readonly disk: DiskWatch
  readonly git: Git
  readonly journal: Journal
  readonly registry: Registry
  /** To be told when git was ended in the middle of its work. */
  readonly pushRecovery: { recoverPushes(): void }
}

/**
 * Work that is safe to be run again from its start, to be cut off anywhere, and to be run twice at
 * once: a lease keeps others away, but clocks differ and machines stand still.
 */
export interface JobKind {
  readonly kind: string
  /** For what has to be done again and again, whatever happens: its one subject is `all`. */
  readonly everyMs?: number
  /** It stays in its queue while the disk has no room for new data. */
  readonly storesData?: true
  readonly run: (context: JobContext, subject: string, signal: AbortSignal) => Promise<void>
}
