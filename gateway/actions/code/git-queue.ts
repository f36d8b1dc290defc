/** Entry of requests about a repository into the queue of git processes. */

import type { Request } from '../../../conf/http.js'
import { clientOf } from '../../auth/client.js'
import type { Context } from '../../request/context.js'
import { repositoryPathOf } from '../../request/repository-path.js'
import type { RepositoryGrant } from './git-reader.js'

/** Request that waits in the queue, with its permission for the repository. */
export interface Caller {
  readonly request: Request
  readonly grant: RepositoryGrant
}

/** Waits for a free slot among the git processes; the returned function frees the slot. */
export function enterQueue(context: Context, { request, grant }: Caller): Promise<() => void> {
  const client = clientOf(grant.who, request)
  return context.queue.enter(request.signal, {
    repository: repositoryPathOf(context, grant.repository),
    client,
  })
}

/** Runs `work`, which may keep git busy for long, in a slot of the queue. */
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
