/** What a Git request must pass before a process starts: the kind of its body, and the queue. */

import type { GitService } from '../../cgi/environment.js'
import { repositoryPath } from '../../cgi/paths.js'
import { Failure } from '../../conf/failures.js'
import type { Request } from '../../conf/http.js'
import { clientOf } from '../auth/client.js'
import type { Grants } from '../auth/gate.js'
import type { Context } from '../context.js'
import type { WarmQuestion } from './pack-cache.js'

/** Throws `unsupported_media_type` where the body is not this service's. */
export function refuseForeignBody(request: Request, service: GitService): void {
  const type = request.headers.get('content-type')
  if (type === `application/x-${service}-request`) return
  throw new Failure('unsupported_media_type', `The body must be application/x-${service}-request.`)
}

/** Whether the body is compressed. Throws `unsupported_media_type` for another coding than gzip. */
export function isGzip(request: Request): boolean {
  const encoding = request.headers.get('content-encoding')?.trim().toLowerCase() ?? 'identity'
  if (encoding === 'gzip' || encoding === 'x-gzip') return true
  if (encoding === 'identity') return false
  throw new Failure('unsupported_media_type', 'The only content encoding taken is gzip.')
}

export interface QueueEntry {
  readonly signal: AbortSignal
  readonly service: GitService
  readonly repositoryPath: string
  /** See `auth/client`. */
  readonly client: string
}

/** What the pack cache is told of a request, beside its body. */
export function packQuestionOf(
  { settings }: Context,
  request: Request,
  { repository, who }: Grants['repository'],
): Omit<WarmQuestion, 'body'> {
  return {
    repositoryPath: repositoryPath(settings.data.dir, repository.storage),
    repositoryBytes: repository.sizeKib * 1_024,
    client: clientOf(who, request),
    request,
  }
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
