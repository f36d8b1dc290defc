/** Download counters, which are buffered in memory and written to the database in batches. */

import type { Log } from '../conf/log.js'
import type { Database } from '../sql/database/database.js'
import { addDownloads } from '../sql/packages/package-files.js'

export interface Downloads {
  /** Counts a download of the file with that id. */
  count(fileId: number): void
  /** Writes the buffered counts. */
  flush(): Promise<void>
  /** Stops the timer and writes the buffered counts. */
  stop(): Promise<void>
}

const FLUSH_INTERVAL_MS = 1_000

/**
 * Creates counters. `addTo` writes a batch of counts, by default those of package files. If a write
 * fails, it is repeated a second later.
 */
export function createDownloads(db: Database, log: Log, addTo = addDownloads): Downloads {
  let counted = new Map<number, number>()
  let timer: NodeJS.Timeout | undefined
  let flushing: Promise<void> = Promise.resolve()
  const plan = () => {
    timer ??= setTimeout(() => {
      timer = undefined
      flush().catch((error: unknown) => log.warn({ error }, 'download counts not written'))
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
