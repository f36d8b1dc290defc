/** Dependencies of all handlers, created once per worker. */

import type { Journal } from '../../cgi/maintenance/journal.js'
import type { KeptObjects } from '../../cgi/objects/kept-objects.js'
import type { Git } from '../../cgi/process/git.js'
import type { Log } from '../../conf/log.js'
import type { Settings } from '../../conf/settings.js'
import type { Registry } from '../../registry/registry.js'
import type { Database } from '../../sql/database/database.js'
import type { Throttle } from '../auth/throttle.js'
import type { PackCache } from '../packs/pack-cache.js'
import type { ProcessQueue } from '../packs/process-queue.js'
import type { Openpgp } from '../pool/openpgp.js'
import type { Planner } from '../pool/plan.js'
import type { Renderings } from '../pool/renderings.js'
import type { FileReaders } from '../pool/repository-files.js'
import type { ShrinkPicture } from '../pool/shrink.js'
import type { DiskWatch } from './disk-watch.js'
import type { Events } from './events.js'
import type { Metrics } from './metrics.js'
import type { PushRecovery } from './push-recovery.js'
import type { Upkeep } from './upkeep.js'

export interface Context extends Planner, FileReaders {
  readonly settings: Settings
  readonly log: Log
  readonly db: Database
  readonly disk: DiskWatch
  readonly git: Git
  readonly objects: KeptObjects
  readonly journal: Journal
  readonly pushRecovery: PushRecovery
  readonly upkeep: Upkeep
  readonly events: Events
  readonly queue: ProcessQueue
  readonly registry: Registry
  readonly packCache: PackCache
  readonly throttle: Throttle
  readonly metrics: Metrics
  readonly renderings: Renderings
  readonly openpgp: Openpgp
  readonly shrinkPicture: ShrinkPicture
  /** Returns the metrics of all workers in the text format of Prometheus. */
  readonly collectMetrics: () => Promise<string>
}
