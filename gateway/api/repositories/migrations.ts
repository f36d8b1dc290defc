/** Migrations over the API: repositories of other servers, imported once or mirrored. */

import { type Static, Type } from 'typebox'
import { Failure, isFailure } from '../../../conf/failures.js'
import type { Settings } from '../../../conf/settings.js'
import { authorizeNewOwner } from '../../auth/authorize-accounts.js'
import { clientOf } from '../../auth/client.js'
import { type ImportInput, importRepository } from '../../imports/import-repository.js'
import { parseGoDuration } from '../../objects/repositories/go-duration.js'
import {
  REPOSITORY_OBJECT,
  repositoryObject,
} from '../../objects/repositories/repository-object.js'
import {
  basicAuthorization,
  type CloneAddress,
  parseCloneAddress,
  type RemoteInput,
} from '../../outbound/git-remote.js'
import { type AnyOperation, defineOperation } from '../operation.js'
import { NO_QUERY } from '../paging.js'
import { jsonReply } from '../surface.js'

const SERVICES = [
  'git',
  'github',
  'gitea',
  'gitlab',
  'gogs',
  'onedev',
  'gitbucket',
  'codebase',
] as const

const MIGRATE_REPO_OPTIONS = Type.Object(
  {
    clone_addr: Type.String({ minLength: 1 }),
    repo_name: Type.String({ minLength: 1, maxLength: 100 }),
    repo_owner: Type.Optional(Type.String()),
    uid: Type.Optional(Type.Integer()),
    service: Type.Optional(Type.Enum(['', ...SERVICES])),
    auth_username: Type.Optional(Type.String()),
    auth_password: Type.Optional(Type.String()),
    auth_token: Type.Optional(Type.String()),
    mirror: Type.Optional(Type.Boolean()),
    mirror_interval: Type.Optional(Type.String()),
    private: Type.Optional(Type.Boolean()),
    description: Type.Optional(Type.String({ maxLength: 2_048 })),
    lfs: Type.Optional(Type.Boolean()),
    lfs_endpoint: Type.Optional(Type.String()),
    wiki: Type.Optional(Type.Boolean()),
    issues: Type.Optional(Type.Boolean()),
    labels: Type.Optional(Type.Boolean()),
    milestones: Type.Optional(Type.Boolean()),
    pull_requests: Type.Optional(Type.Boolean()),
    releases: Type.Optional(Type.Boolean()),
    aws_access_key_id: Type.Optional(Type.String()),
    aws_secret_access_key: Type.Optional(Type.String()),
  },
  { $id: 'MigrateRepoOptions' },
)

type MigrateRepoOptions = Static<typeof MIGRATE_REPO_OPTIONS>

const migrate = defineOperation({
  id: 'repoMigrate',
  method: 'POST',
  path: '/repos/migrate',
  summary: 'Migrate a remote git repository',
  tags: ['repository'],
  access: { kind: 'signed-in' },
  scopes: ['write:repository'],
  params: {},
  query: NO_QUERY,
  body: MIGRATE_REPO_OPTIONS,
  success: { status: 201, schema: REPOSITORY_OBJECT },
  failures: [403, 409, 422],
  async handle(context, { request, grant, body }) {
    const { repo_owner: name = '', uid: id = 0, mirror: isMirror = false } = body
    const { migrations } = context.settings
    const owner = await authorizeNewOwner(context.db, grant.user, { name, id })
    refuseDisabled(migrations, isMirror)
    refuseUnsupportedContents(body)
    const address = parseCloneAddress(body.clone_addr)
    const authorization = authorizationOf(body, address)
    const { signal, address: clientAddress } = request
    const client = clientOf(grant.who, request)
    const repository = await importRepository(
      context,
      { signal, address: clientAddress, client },
      {
        owner,
        name: body.repo_name,
        url: address.url,
        description: body.description ?? '',
        isPrivate: body.private ?? false,
        authorization,
        mirror: isMirror
          ? { intervalMs: mirrorIntervalOf(migrations, body.mirror_interval ?? '') }
          : undefined,
        hasWiki: body.wiki ?? false,
        contents: contentsOf(body, grant.user.id),
        lfs: lfsOf(context.settings, body, { url: address.url, authorization }),
      },
    )
    return jsonReply(201, await repositoryObject(context, repository, 'owner'))
  },
})

function refuseDisabled({ isEnabled, hasMirrors }: Settings['migrations'], isMirror: boolean) {
  if (isMirror && !hasMirrors) {
    throw new Failure(
      'forbidden',
      'the site administrator has disabled creation of new pull mirrors',
    )
  }
  if (!isEnabled) throw new Failure('forbidden', 'the site administrator has disabled migrations')
}

/**
 * Throws `invalid` for contents that the source cannot provide, so that they are not ignored
 * silently.
 */
function refuseUnsupportedContents(body: MigrateRepoOptions): void {
  const { service = 'git', mirror = false } = body
  // Mirrors and plain Git sources contain only Git data, so options such as `issues` are ignored
  // for them.
  const isUnsupportedService = !mirror && service !== '' && service !== 'git' && service !== 'gitea'
  if (!isUnsupportedService) return
  const { issues, labels, milestones, pull_requests, releases } = body
  const asked = { issues, labels, milestones, pull_requests, releases }
  const names = Object.entries(asked).flatMap(([name, isAsked]) => (isAsked ? [name] : []))
  if (names.length === 0) return
  const message = 'These options are not supported for this source, so omit them'
  throw new Failure('invalid', `${message}: ${names.join(', ')}.`)
}

/**
 * Returns the contents to import besides Git data, or undefined for none. Only Gitea is supported
 * as a source of them.
 */
function contentsOf(body: MigrateRepoOptions, authorId: number): ImportInput['contents'] {
  const { service, mirror = false } = body
  const { labels = false, milestones = false, issues = false, releases = false } = body
  const { pull_requests: pulls = false } = body
  const isAny = labels || milestones || issues || pulls || releases
  if (service !== 'gitea' || mirror || !isAny) return undefined
  return { authorId, labels, milestones, issues, pulls, releases }
}

/**
 * Returns the LFS server of the source, which is below the clone address unless the request names
 * another one. The credentials of the source are sent to its origin only. Throws `invalid`.
 */
function lfsOf(
  { lfs: { isEnabled } }: Settings,
  { lfs = false, lfs_endpoint: endpoint = '' }: MigrateRepoOptions,
  source: RemoteInput,
): RemoteInput | undefined {
  if (!lfs) return undefined
  if (!isEnabled) throw new Failure('invalid', 'Git LFS is disabled on this server, so omit lfs.')
  if (endpoint === '') {
    const address = source.url.href.replace(/\/+$/, '').replace(/\.git$/, '')
    return { ...source, url: new URL(`${address}.git/info/lfs`) }
  }
  const { url, username, password } = parseEndpoint(endpoint)
  const own = basicAuthorization(username, password)
  const isSameOrigin = url.origin === source.url.origin
  return { url, authorization: own ?? (isSameOrigin ? source.authorization : undefined) }
}

function parseEndpoint(text: string): CloneAddress {
  try {
    return parseCloneAddress(text)
  } catch (cause) {
    if (!isFailure(cause, 'invalid')) throw cause
    const message = 'The lfs_endpoint must be a URL of http or https, without a query.'
    throw new Failure('invalid', message, { cause })
  }
}

/**
 * Returns the header `Authorization` for the source. A token is sent as the password of the user
 * `oauth2`, as Gitea does.
 */
function authorizationOf(body: MigrateRepoOptions, address: CloneAddress): string | undefined {
  const { auth_username: username, auth_password: password, auth_token: token } = body
  if (token) return basicAuthorization('oauth2', token)
  if (username || password) return basicAuthorization(username ?? '', password ?? '')
  return basicAuthorization(address.username, address.password)
}

/**
 * Returns the mirror interval in milliseconds, or 0 if the mirror is never updated. Throws
 * `invalid` if it is below the minimum or cannot be parsed.
 */
export function mirrorIntervalOf(settings: Settings['migrations'], text: string): number {
  const intervalMs = text === '' ? settings.mirrorIntervalMs : parseGoDuration(text)
  if (intervalMs !== 0 && intervalMs < settings.mirrorIntervalMsMin) {
    const minimum = `${settings.mirrorIntervalMsMin / 1_000} seconds`
    throw new Failure('invalid', `The mirror interval is below the minimum of ${minimum}.`)
  }
  return intervalMs
}

const mirrorSync = defineOperation({
  id: 'repoMirrorSync',
  method: 'POST',
  path: '/repos/{owner}/{repo}/mirror-sync',
  summary: 'Sync a mirrored repository',
  tags: ['repository'],
  access: { kind: 'repository', mode: 'write' },
  scopes: ['write:repository'],
  params: { owner: 'owner of the repo to sync', repo: 'name of the repo to sync' },
  query: NO_QUERY,
  success: { status: 200, schema: null },
  failures: [400, 403, 404, 423],
  async handle(context, { grant }) {
    const { repository } = grant
    if (repository.source?.mirror === undefined) {
      throw new Failure('bad_request', 'Repository is not a mirror')
    }
    if (repository.isArchived) throw new Failure('archived', 'repo is archived')
    await context.upkeep.enqueueMirrorSync(repository.id)
    return { status: 200 }
  },
})

export const MIGRATION_OPERATIONS: readonly AnyOperation[] = [migrate, mirrorSync]
