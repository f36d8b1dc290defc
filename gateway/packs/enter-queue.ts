/** Entry of requests into the queue of git processes, with a metric for refused ones. */

import type { GitService } from '../../cgi/transfer/environment.js'
import type { ProcessQueue } from './process-queue.js'

/** The queue and its metrics. */
export interface QueueContext {
  readonly queue: ProcessQueue
  readonly metrics: {
    countGitService(labels: {
      readonly service: GitService
      readonly outcome: 'ok' | 'failed' | 'refused'
    }): void
  }
}

export interface QueueEntry {
  readonly signal: AbortSignal
  readonly service: GitService
  readonly repositoryPath: string
  /** Key of the client, see `auth/client`. */
  readonly client: string
}

/**
 * Waits for a free slot among the git processes; the returned function frees the slot. Throws
 * `unavailable` if too many processes run and wait, and `throttled` if too many of them belong to
 * this client.
 */
export async function enterQueue(
  context: QueueContext,
  { signal, service, repositoryPath: repository, client }: QueueEntry,
): Promise<() => void> {
  try {
    return await context.queue.enter(signal, { repository, client })
  } catch (error) {
    context.metrics.countGitService({ service, outcome: 'refused' })
    throw error
  }
}
