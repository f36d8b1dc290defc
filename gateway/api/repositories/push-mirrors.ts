/** Push mirrors over the API, for administrators of the repository. */

import { type Static, Type } from 'typebox'
import { Failure, isFailure, notFound } from '../../../conf/failures.js'
import {
  deletePushMirror,
  listPushMirrors,
  type PushMirror,
} from '../../../sql/repositories/push-mirrors.js'
import { actingUserOf } from '../../actions/code/acting-user.js'
import type { RepositoryGrant } from '../../actions/code/git-reader.js'
import { createPushMirror } from '../../actions/repositories/push-mirrors.js'
import { PUSH_MIRROR, pushMirrorObject } from '../../objects/repositories/push-mirror-object.js'
import type { Context } from '../../request/context.js'
import { type AnyOperation, defineOperation } from '../operation.js'
import { NO_QUERY, PAGE_QUERY, pageOf, pageReply } from '../paging.js'
import { jsonReply } from '../surface.js'
import { mirrorIntervalOf } from './migrations.js'

const REPOSITORY_PARAMS = { owner: 'owner of the repo', repo: 'name of the repo' }
const MIRROR_PARAMS = { ...REPOSITORY_PARAMS, name: 'remote name of the push mirror' }
const ACCESS = { kind: 'repository', mode: 'admin' } as const
const PATH = '/repos/{owner}/{repo}/push_mirrors'

const CREATE_PUSH_MIRROR_OPTION = Type.Object(
  {
    remote_address: Type.Optional(Type.String()),
    remote_username: Type.Optional(Type.String({ maxLength: 255 })),
    remote_password: Type.Optional(Type.String({ maxLength: 2_048 })),
    interval: Type.Optional(Type.String()),
    sync_on_commit: Type.Optional(Type.Boolean()),
  },
  { $id: 'CreatePushMirrorOption' },
)

const list = defineOperation({
  id: 'repoListPushMirrors',
  method: 'GET',
  path: PATH,
  summary: 'Get all push mirrors of the repository',
  tags: ['repository'],
  access: ACCESS,
  scopes: ['read:repository'],
  params: REPOSITORY_PARAMS,
  query: Type.Object(PAGE_QUERY),
  success: { status: 200, schema: Type.Array(PUSH_MIRROR) },
  failures: [403, 404],
  async handle(context, { grant, query }) {
    const { repository } = grant
    const page = pageOf(query)
    const mirrors = await listPushMirrors(context.db, repository.id)
    const entries = mirrors
      .slice((page.page - 1) * page.limit, page.page * page.limit)
      .map((mirror) => pushMirrorObject(repository, mirror))
    const path = `/repos/${repository.owner.name}/${repository.name}/push_mirrors`
    return pageReply(context, entries, { path, page, total: mirrors.length })
  },
})

const get = defineOperation({
  id: 'repoGetPushMirrorByRemoteName',
  method: 'GET',
  path: `${PATH}/{name}`,
  summary: 'Get push mirror of the repository by remoteName',
  tags: ['repository'],
  access: ACCESS,
  scopes: ['read:repository'],
  params: MIRROR_PARAMS,
  query: NO_QUERY,
  success: { status: 200, schema: PUSH_MIRROR },
  failures: [403, 404],
  async handle(context, { grant, params }) {
    const mirror = await mirrorOf(context, grant, params['name'] ?? '')
    return jsonReply(200, pushMirrorObject(grant.repository, mirror))
  },
})

const create = defineOperation({
  id: 'repoAddPushMirror',
  method: 'POST',
  path: PATH,
  summary: 'add a push mirror to the repository',
  tags: ['repository'],
  access: ACCESS,
  scopes: ['write:repository'],
  params: REPOSITORY_PARAMS,
  query: NO_QUERY,
  body: CREATE_PUSH_MIRROR_OPTION,
  success: { status: 200, schema: PUSH_MIRROR },
  failures: [400, 403, 404, 422, 423],
  async handle(context, { grant, body }) {
    actingUserOf(grant)
    if (!context.settings.migrations.hasMirrors) {
      throw new Failure('bad_request', 'Mirror feature is disabled')
    }
    const name = await add(context, grant, body).catch(asBadRequest)
    const mirror = await mirrorOf(context, grant, name)
    return jsonReply(200, pushMirrorObject(grant.repository, mirror))
  },
})

async function add(
  context: Context,
  { repository }: RepositoryGrant,
  body: Static<typeof CREATE_PUSH_MIRROR_OPTION>,
): Promise<string> {
  const { interval = '' } = body
  if (interval === '') {
    throw new Failure('invalid', 'interval is missing; send a duration such as 8h0m0s, or 0s.')
  }
  return await createPushMirror(context, repository, {
    address: body.remote_address ?? '',
    username: body.remote_username ?? '',
    password: body.remote_password ?? '',
    intervalMs: mirrorIntervalOf(context.settings.migrations, interval),
    syncsOnPush: body.sync_on_commit ?? false,
  })
}

/** Gitea answers 400 for values that other operations answer 422 for. */
function asBadRequest(error: unknown): never {
  if (!isFailure(error, 'invalid')) throw error
  throw new Failure('bad_request', error.message, { cause: error })
}

const sync = defineOperation({
  id: 'repoPushMirrorSync',
  method: 'POST',
  path: '/repos/{owner}/{repo}/push_mirrors-sync',
  summary: 'Sync all push mirrored repository',
  tags: ['repository'],
  access: ACCESS,
  scopes: ['write:repository'],
  params: REPOSITORY_PARAMS,
  query: NO_QUERY,
  success: { status: 200, schema: null },
  failures: [403, 404, 423],
  async handle(context, { grant }) {
    actingUserOf(grant)
    for (const { id } of await listPushMirrors(context.db, grant.repository.id)) {
      await context.upkeep.enqueuePushMirror(id)
    }
    return { status: 200 }
  },
})

const remove = defineOperation({
  id: 'repoDeletePushMirror',
  method: 'DELETE',
  path: `${PATH}/{name}`,
  summary: 'deletes a push mirror from a repository by remoteName',
  tags: ['repository'],
  access: ACCESS,
  scopes: ['write:repository'],
  params: MIRROR_PARAMS,
  query: NO_QUERY,
  success: { status: 204, schema: null },
  failures: [403, 404, 423],
  async handle({ db }, { grant, params }) {
    actingUserOf(grant)
    const isDeleted = await deletePushMirror(db, grant.repository.id, params['name'] ?? '')
    if (!isDeleted) throw notFound()
    return { status: 204 }
  },
})

/** Returns the push mirror with that name. Throws `not_found`. */
async function mirrorOf(
  { db }: Context,
  { repository }: RepositoryGrant,
  name: string,
): Promise<PushMirror> {
  const mirrors = await listPushMirrors(db, repository.id)
  const found = mirrors.find(({ remoteName }) => remoteName === name)
  if (found === undefined) throw notFound()
  return found
}

export const PUSH_MIRROR_OPERATIONS: readonly AnyOperation[] = [list, get, create, sync, remove]
