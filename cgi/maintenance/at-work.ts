/** Notes work of this process on a repository in the journal, from before its first object on. */

import type { Journal } from './journal.js'

/**
 * Runs `work` while the journal names this process as a writer of the repository. Pruning keeps
 * every object that was written or used since the start of such work, and waits for its end.
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
