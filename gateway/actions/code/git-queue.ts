/** The queue of git processes, as handlers of a repository enter it. */

import type { Request } from '../../../conf/http.js'
import { clientOf } from '../../auth/client.js'
import type { Context } from '../../request/context.js'
import { repositoryPathOf } from '../../request/repository-path.js'
import type { RepositoryGrant } from './git-reader.js'

/** The request that takes a place in the queue. */
export interface Caller {
  readonly request: Request
  readonly grant: RepositoryGrant
}

/** Waits for a place in the queue of git processes. The returned function gives it back. */
export function enterQueue(context: Context, { request, grant }: Caller): Promise<() => void> {
  const client = clientOf(grant.who, request)
  return context.queue.enter(request.signal, {
    repository: repositoryPathOf(context, grant.repository),
    client,
  })
}

/** Runs work that may take git long in a place of the queue. */
export async function inQueue<T>(
  context: Context,
  caller: Caller,
  work: () => Promise<T>,
): Promise<T> {
  const leave = await enterQueue(context, caller)
  try {
    return await work()
  } finally {
    leave()
  }
}
