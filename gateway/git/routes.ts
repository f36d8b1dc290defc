/** Routes of Git over HTTP (gitprotocol-http(5)): the smart protocol, and bundles. */

import type { RepositoryState } from '../../cgi/repository/repository-state.js'
import { Failure } from '../../conf/failures.js'
import { type Awaitable, after } from '../../conf/lib/awaitable.js'
import { createWiki, requireWiki } from '../actions/wiki/wiki-folder.js'
import type { Grants } from '../auth/authorize.js'
import { clientOf } from '../auth/client.js'
import { advertiseFetch } from '../packs/advertisement.js'
import type { ObjectFormat } from '../packs/normal-fetch.js'
import { advertisePush } from '../packs/push-advertisement.js'
import type { Context } from '../request/context.js'
import { repositoryPathOf } from '../request/repository-path.js'
import type { AnyRoute, Route } from '../request/route.js'
import { refuseArchived } from './archived.js'
import { sendBundle } from './bundle.js'
import { answerFetch } from './fetch.js'
import { packRequestOf } from './intake.js'
import { runService } from './service.js'
import { GIT_SURFACE } from './surface.js'

const READ = {
  service: 'git-upload-pack',
  access: { kind: 'repository', mode: 'read', isDownload: true, mayBeWiki: true },
  scopes: ['read:repository'],
} as const
const WRITE = {
  service: 'git-receive-pack',
  access: { kind: 'repository', mode: 'write', changesGit: true, mayBeWiki: true },
  scopes: ['write:repository'],
} as const

/** Returns the route of a service's first request, for the refs or capabilities of the server. */
function advertise({ service, access, scopes }: typeof READ | typeof WRITE): AnyRoute {
  const route: Route<'repository'> = {
    surface: GIT_SURFACE,
    method: 'GET',
    path: '/{owner}/{repo}/info/refs',
    query: `service=${service}`,
    access,
    scopes,
    handle(context, call) {
      const elsewhere = presentAddress(context, call.grant, call.params)
      if (elsewhere !== undefined) {
        return { status: 301, headers: [['Location', `${elsewhere}/info/refs?service=${service}`]] }
      }
      const { grant, request } = call
      const { signal } = request
      const client = () => clientOf(grant.who, request)
      const asked = {
        repositoryPath: repositoryPathOf(context, grant.repository),
        gitProtocol: request.headers.get('git-protocol'),
        ask: async () => {
          const reply = await runService(context, request, { service, suffix: 'info/refs', grant })
          return { ...reply, isRoutine: true }
        },
      }
      if (service === 'git-upload-pack') {
        const { repositoryPath } = asked
        const references = (objectFormat: ObjectFormat, state: RepositoryState) =>
          context.packCache.presentReferences({ repositoryPath, client, state }, objectFormat)
        const { git } = context
        return after(requireFolder(context, grant), () =>
          advertiseFetch({ ...asked, git, references }),
        )
      }
      refuseArchived(grant)
      const { isWiki } = grant.repository
      return after(isWiki && createWiki(context, grant.repository), () =>
        advertisePush(context, { ...asked, client: client(), signal }),
      )
    },
  }
  return route
}

/** Throws `not_found` for a wiki without a folder. */
function requireFolder(context: Context, { repository }: Grants['repository']): Awaitable<void> {
  return repository.isWiki ? requireWiki(context, repository) : undefined
}

/** Route of the request for objects or, in protocol v2, for refs. */
const fetch: Route<'repository'> = {
  surface: GIT_SURFACE,
  method: 'POST',
  path: '/{owner}/{repo}/git-upload-pack',
  access: READ.access,
  scopes: READ.scopes,
  handle: (context, { request, grant }) =>
    after(requireFolder(context, grant), () => answerFetch(context, request, grant)),
}

/** Route of the bundle with which a clone may begin (git's `transfer.bundleURI`). */
const bundle: Route<'repository'> = {
  surface: GIT_SURFACE,
  method: 'GET',
  path: '/{owner}/{repo}/bundles/{bundle}',
  access: READ.access,
  scopes: READ.scopes,
  handle(context, { request, grant, params }) {
    const asked = { question: packRequestOf(context, request, grant), grant }
    const range = request.headers.get('range')
    return after(requireFolder(context, grant), () =>
      sendBundle(context, asked, { name: params['bundle'] ?? '', range }),
    )
  },
}

/** Route of the request that brings a pack. */
const push: Route<'repository'> = {
  surface: GIT_SURFACE,
  method: 'POST',
  path: '/{owner}/{repo}/git-receive-pack',
  access: WRITE.access,
  scopes: WRITE.scopes,
  async handle(context, { grant, request }) {
    refuseArchived(grant)
    await requireFolder(context, grant)
    const { service } = WRITE
    return runService(context, request, { service, suffix: service, grant })
  },
}

/** Route of the dumb protocol, which requests the files of the repository and is not supported. */
const refuseDumb: Route<'anyone'> = {
  surface: GIT_SURFACE,
  method: 'GET',
  path: '/{owner}/{repo}/info/refs',
  access: { kind: 'anyone' },
  scopes: [],
  handle: async () => {
    throw new Failure(
      'forbidden',
      'Only the smart HTTP protocol is served: use git 1.6.6 or later.',
    )
  },
}

export const GIT_ROUTES: readonly AnyRoute[] = [
  advertise(READ),
  advertise(WRITE),
  refuseDumb,
  fetch,
  bundle,
  push,
]

/** Returns the current address of the repository if the request used another name. */
function presentAddress(
  context: Context,
  { repository }: Grants['repository'],
  params: Readonly<Record<string, string>>,
): string | undefined {
  const name = (params['repo'] ?? '').replace(/\.git$/i, '')
  if (params['owner'] === repository.owner.name && name === repository.name) return undefined
  return `${context.settings.http.baseUrl}/${repository.owner.name}/${repository.name}.git`
}
