/** The threads of a gateway worker: pages do not wait for uploads, which take longer. */

import { createDigestThread, type DigestThread } from './digests.js'
import { createPool, type Pool, type TaskOutcome } from './pool.js'
import type { GatewayTasks } from './tasks.js'

export interface Pools {
  /** Renders parts of pages. */
  readonly pages: Pool<GatewayTasks>
  /** Reads uploads. */
  readonly uploads: Pool<GatewayTasks>
  /** Computes digests of uploads. */
  readonly digests: DigestThread
  /** Ends all threads. */
  stop(): Promise<void>
}

export type PoolName = 'pages' | 'uploads'

/** Module of the threads, in the folder of this one, also after bundling. */
const FILE = new URL('./pool-thread.js', import.meta.url)
const IDLE_MS = 30_000
const LIMITS = {
  pages: { heapMib: 128, waitingMax: 64, waitMs: 3_000 },
  uploads: { heapMib: 192, waitingMax: 64, waitMs: 60_000 },
} as const

/** Creates the pools. Their threads start with the first task and end when idle. */
export function createPools(count: (pool: PoolName, outcome: TaskOutcome) => void): Pools {
  const create = (name: PoolName): Pool<GatewayTasks> =>
    createPool({
      file: FILE,
      idleMs: IDLE_MS,
      ...LIMITS[name],
      count: (outcome) => count(name, outcome),
    })
  const [pages, uploads, digests] = [create('pages'), create('uploads'), createDigestThread()]
  return {
    pages,
    uploads,
    digests,
    async stop() {
      await Promise.all([pages.stop(), uploads.stop(), digests.stop()])
    },
  }
}
