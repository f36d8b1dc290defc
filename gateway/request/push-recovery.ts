/** Recovery of repositories after interrupted pushes, in the background, one scan at a time. */

import { isRunningPush, listJournalEntries } from '../../cgi/maintenance/journal.js'
import { recover } from '../../cgi/maintenance/recovery.js'
import type { Log } from '../../conf/log.js'

export interface PushRecovery {
  /** Starts a recovery. Must be called for each interrupted push once its processes have ended. */
  recoverPushes(): void
}

/** Pauses between scans while another process may still be writing; they grow. */
const PAUSE_MS_MIN = 1_000
const PAUSE_MS_MAX = 60_000

/** Creates the recovery of the pushes in the journal of a data folder. */
export function createPushRecovery(dataDir: string, log: Log): PushRecovery {
  let pauseMs = PAUSE_MS_MIN
  let isAtWork = false
  let wake = () => {}

  async function work(): Promise<void> {
    isAtWork = true
    try {
      do {
        await recover(dataDir, log)
      } while ((await isCutPushLeft(dataDir)) && (await pause()))
    } catch (error) {
      log.error({ error }, 'the recovery of an interrupted push failed')
    }
    isAtWork = false
  }

  function pause(): Promise<true> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, pauseMs, true).unref()
      pauseMs = Math.min(pauseMs * 2, PAUSE_MS_MAX)
      wake = () => {
        clearTimeout(timer)
        resolve(true)
      }
    })
  }

  return {
    recoverPushes() {
      pauseMs = PAUSE_MS_MIN
      if (isAtWork) wake()
      else void work()
    },
  }
}

async function isCutPushLeft(dataDir: string): Promise<boolean> {
  for (const push of (await listJournalEntries(dataDir)).values()) {
    if (!(await isRunningPush(dataDir, push))) return true
  }
  return false
}
