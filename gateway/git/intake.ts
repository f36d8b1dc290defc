/** Checks of Git requests before git runs. */

import type { GitService } from '../../cgi/transfer/environment.js'
import { Failure } from '../../conf/failures.js'
import type { Request } from '../../conf/http.js'
import type { Grants } from '../auth/authorize.js'
import { clientOf } from '../auth/client.js'
import type { WarmRequest } from '../packs/pack-cache.js'
import type { Context } from '../request/context.js'
import { repositoryPathOf } from '../request/repository-path.js'

/** Throws `unsupported_media_type` if the body's type is not that of the service. */
export function refuseForeignBody(request: Request, service: GitService): void {
  const type = request.headers.get('content-type')
  if (type === `application/x-${service}-request`) return
  throw new Failure('unsupported_media_type', `The body must be application/x-${service}-request.`)
}

/** True if the body is gzip. Throws `unsupported_media_type` for other content codings. */
export function isGzip(request: Request): boolean {
  const encoding = request.headers.get('content-encoding')?.trim().toLowerCase() ?? 'identity'
  if (encoding === 'gzip' || encoding === 'x-gzip') return true
  if (encoding === 'identity') return false
  throw new Failure('unsupported_media_type', 'The only supported content encoding is gzip.')
}

/** Returns the input of the pack cache for a request, except the body. */
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
