/** What a Git request is before git is asked: the kind of its body, and whose it is. */

import type { GitService } from '../../cgi/transfer/environment.js'
import { Failure } from '../../conf/failures.js'
import type { Request } from '../../conf/http.js'
import type { Grants } from '../auth/authorize.js'
import { clientOf } from '../auth/client.js'
import type { WarmRequest } from '../packs/pack-cache.js'
import type { Context } from '../request/context.js'
import { repositoryPathOf } from '../request/repository-path.js'

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

/** What the pack cache is told of a request, beside its body. */
export function packRequestOf(
  context: Context,
  request: Request,
  { repository, who }: Grants['repository'],
): WarmRequest {
  return {
    repositoryPath: repositoryPathOf(context, repository),
    repositoryBytes: repository.sizeKib * 1_024,
    client: () => clientOf(who, request),
    request,
  }
}
