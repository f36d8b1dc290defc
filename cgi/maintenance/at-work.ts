/** Journal entries for work of this process on a repository. */

import type { Journal } from './journal.js'

/**
 * Runs `work` while the journal lists this process as a writer of the repository. Pruning keeps all
 * objects that were written or used since the start of the work, and waits for its end.
 */
export async function withJournalEntry<T>(
  journal: Journal,
  repositoryPath: string,
  work: () => Promise<T>,
): Promise<T> {
  const strike = await journal.record({ repositoryPath, pid: process.pid })
  try {
    return await work()
  } finally {
    await strike()
  }
}
