/** Routes of the package registries. */

import type { Reply } from '../../conf/http.js'
import type { Format, FormatRoute } from '../../registry/format.js'
import { openPackageStore } from '../../registry/lend-package-store.js'
import type { Context } from '../request/context.js'
import type { AnyRoute, Call, Route, Surface } from '../request/route.js'
import { narrowPackageStore } from './narrow-package-store.js'
import { findPackageSource } from './package-source.js'
import { sourceRepositories } from './source-repositories.js'
import { watchPackageStore } from './watched-package-store.js'

/** Returns the routes of a format. */
export function routesOf(format: Format): readonly AnyRoute[] {
  const surface = surfaceOf(format)
  return format.routes.map((route) => routeOf(format, route, surface))
}

function routeOf(format: Format, route: FormatRoute, surface: Surface): AnyRoute {
  const inPackageStore: Route<'packages'> = {
    surface,
    method: route.method,
    path: `/api/packages/{owner}/${format.name}${route.path}`,
    access: { ...ACCESS[route.access], format: format.name },
    scopes: [route.access === 'write' ? 'write:package' : 'read:package'],
    handle: (context, call) => answer(context, call, { format, route }),
  }
  return inPackageStore
}

const ACCESS = {
  read: { kind: 'packages', mode: 'read' },
  write: { kind: 'packages', mode: 'write' },
  'signed-in': { kind: 'packages', mode: 'read', isSignedIn: true },
} as const

async function answer(
  context: Context,
  { request, params, grant }: Call<'packages'>,
  { format, route }: { readonly format: Format; readonly route: FormatRoute },
): Promise<Reply> {
  const { owner, user } = grant
  const store = openPackageStore(context.registry, {
    ownerId: owner.id,
    ownerName: owner.name,
    user,
    repositoryId: grant.repositoryId,
    format: format.name,
    index: format.index,
    findsRetired: route.access !== 'write',
    baseUrl: `${context.settings.http.baseUrl}/api/packages/${owner.name}/${format.name}`,
    sourceOf: (of) => findPackageSource(context, grant.who, of),
  })
  try {
    const isRead = route.access !== 'write'
    const lent = isRead ? store : watchPackageStore(context, store, { grant, format })
    return await route.handle(narrowPackageStore(lent, grant), {
      request,
      params,
      repositories: sourceRepositories(context, { request, grant }),
    })
  } finally {
    await store.close()
  }
}

/**
 * Returns the surface of a format. It challenges anonymous clients, because apt, composer, R and
 * clients that read a netrc file send credentials only then.
 */
function surfaceOf(format: Format): Surface {
  return {
    name: 'packages',
    challenges: true,
    refuse(_context, failure) {
      const { headers = [], body } = format.refuse(failure)
      const asks = failure.status === 401
      const challenge = asks ? ([['WWW-Authenticate', 'Basic realm="Gatehouse"']] as const) : []
      const always = [['X-Content-Type-Options', 'nosniff']] as const
      const reply = { status: failure.status, headers: [...headers, ...always, ...challenge] }
      return body === undefined ? reply : { ...reply, body }
    },
  }
}
