/** Counts downloads without a write for each: what came together is added together. */

import type { Log } from '../conf/log.js'
import type { Database } from '../sql/database/database.js'
import { addDownloads } from '../sql/packages/package-files.js'

export interface Downloads {
  /** One more of the file with that id. */
  count(fileId: number): void
  /** Writes down what was counted. */
  flush(): Promise<void>
  /** Counts no more; what was counted is written down. */
  stop(): Promise<void>
}

const FLUSH_INTERVAL_MS = 1_000

/**
 * A counter over that database, of package files unless `addTo` adds to others. Where it cannot
 * write, it tries again a second later.
 */
export function createDownloads(db: Database, log: Log, addTo = addDownloads): Downloads {
  let counted = new Map<number, number>()
  let timer: NodeJS.Timeout | undefined
  let flushing: Promise<void> = Promise.resolve()
  const plan = () => {
    timer ??= setTimeout(() => {
      timer = undefined
      flush().catch((error: unknown) => log.warn({ error }, 'downloads were not counted yet'))
    }, FLUSH_INTERVAL_MS).unref()
  }
  const add = (fileId: number, count: number) => {
    counted.set(fileId, (counted.get(fileId) ?? 0) + count)
    plan()
  }
  const write = async () => {
    const batch = counted
    counted = new Map()
    try {
      await addTo(db, batch)
    } catch (error) {
      for (const [fileId, count] of batch) add(fileId, count)
      throw error
    }
  }
  const flush = () => {
    flushing = flushing.then(write, write)
    return flushing
  }
  return {
    count: (fileId) => add(fileId, 1),
    flush,
    async stop() {
      clearTimeout(timer)
      timer = undefined
      await flush()
    },
  }
}
