/** The queue of git processes, for whoever has one to start on a client's behalf. */

import type { GitService } from '../../cgi/transfer/environment.js'
import type { Context } from '../context.js'

export interface QueueEntry {
  readonly signal: AbortSignal
  readonly service: GitService
  readonly repositoryPath: string
  /** See `auth/client`. */
  readonly client: string
}

/**
 * A place among the git processes that may run, to be left by the returned function. Throws
 * `unavailable` when too many run and wait, `throttled` when too many of them are this client's.
 */
export async function enterQueue(
  context: Context,
  { signal, service, repositoryPath: repository, client }: QueueEntry,
): Promise<() => void> {
  try {
    return await context.queue.enter(signal, { repository, client })
  } catch (error) {
    context.metrics.countGitService({ service, outcome: 'refused' })
    throw error
  }
}
