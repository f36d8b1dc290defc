/** Reading of files of repositories in a pool: their authors choose the cost. */

import { Failure } from '../../conf/failures.js'
import { type Pool, TaskRefused } from './pool.js'
import type { GatewayTasks } from './tasks.js'

export interface FileReaders {
  /**
   * Returns the SPDX identifiers of the license that a text is. Rejects with `invalid` if that
   * takes more than the pool permits, and with `unavailable` if too many tasks wait.
   */
  detectLicenses(text: string, ownerId: number): Promise<readonly string[]>
}

/** Time limit of one file. The first license needs the texts of all, which takes some 300 ms. */
const DEADLINE_MS = 5_000

const RETRY_AFTER_SECONDS = 10

/** Returns the functions that read files in the pool. */
export function readFilesIn(pool: Pick<Pool<GatewayTasks>, 'run'>): FileReaders {
  return {
    async detectLicenses(text, ownerId) {
      try {
        return await pool.run('detectLicenses', { text }, { deadlineMs: DEADLINE_MS, ownerId })
      } catch (error) {
        throw refusalOf(error)
      }
    },
  }
}

function refusalOf(error: unknown): unknown {
  if (!(error instanceof TaskRefused)) return error
  if (error.reason !== 'busy') {
    return new Failure('invalid', 'Reading the file takes too much time or memory.')
  }
  const retryAfterSeconds = RETRY_AFTER_SECONDS
  return new Failure('unavailable', 'Too many files are being read.', { retryAfterSeconds })
}
