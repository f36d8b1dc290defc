/** Deploy keys over the API, for administrators of the repository: list, add, read, remove. */

import { Type } from 'typebox'
import { notFound } from '../../../conf/failures.js'
import {
  addDeployKey,
  findDeployKey,
  listDeployKeys,
  removeDeployKey,
} from '../../../sql/repositories/deploy-keys.js'
import { readKey } from '../../actions/accounts/read-key.js'
import {
  CREATE_KEY_OPTION,
  DEPLOY_KEY,
  deployKeyObject,
  FINGERPRINT_QUERY,
  fingerprintOf,
  idOf,
} from '../../objects/accounts/key-object.js'
import { type AnyOperation, defineOperation } from '../operation.js'
import { NO_QUERY, PAGE_QUERY, pageOf, pageReply } from '../paging.js'
import { jsonReply } from '../surface.js'

const REPOSITORY_PARAMS = { owner: 'owner of the repo', repo: 'name of the repo' }

const list = defineOperation({
  id: 'repoListKeys',
  method: 'GET',
  path: '/repos/{owner}/{repo}/keys',
  summary: "List a repository's keys",
  tags: ['repository'],
  access: { kind: 'repository', mode: 'admin' },
  scopes: ['read:repository'],
  params: REPOSITORY_PARAMS,
  query: Type.Object({
    key_id: Type.Optional(Type.Integer({ description: 'the key_id to search for' })),
    ...FINGERPRINT_QUERY,
    ...PAGE_QUERY,
  }),
  success: { status: 200, schema: Type.Array(DEPLOY_KEY) },
  failures: [403, 404],
  async handle(context, { grant, query }) {
    const { repository } = grant
    const page = pageOf(query)
    const { entries, total } = await listDeployKeys(context.db, repository.id, {
      page,
      keyId: query.key_id || undefined,
      fingerprint: fingerprintOf(query),
    })
    const objects = await Promise.all(entries.map((key) => deployKeyObject(context, key, grant)))
    const path = `/repos/${repository.owner.name}/${repository.name}/keys`
    return pageReply(context, objects, { path, page, total })
  },
})

const create = defineOperation({
  id: 'repoCreateKey',
  method: 'POST',
  path: '/repos/{owner}/{repo}/keys',
  summary: 'Add a key to a repository',
  tags: ['repository'],
  access: { kind: 'repository', mode: 'admin' },
  scopes: ['write:repository'],
  params: REPOSITORY_PARAMS,
  query: NO_QUERY,
  body: CREATE_KEY_OPTION,
  success: { status: 201, schema: DEPLOY_KEY },
  failures: [403, 404, 422],
  async handle(context, { grant, body }) {
    const key = await addDeployKey(context.db, {
      repositoryId: grant.repository.id,
      mode: body.read_only === true ? 'read' : 'write',
      ...readKey(body),
    })
    return jsonReply(201, await deployKeyObject(context, key, grant))
  },
})

const get = defineOperation({
  id: 'repoGetKey',
  method: 'GET',
  path: '/repos/{owner}/{repo}/keys/{id}',
  summary: "Get a repository's key by id",
  tags: ['repository'],
  access: { kind: 'repository', mode: 'admin' },
  scopes: ['read:repository'],
  params: { ...REPOSITORY_PARAMS, id: 'id of the key to get' },
  query: NO_QUERY,
  success: { status: 200, schema: DEPLOY_KEY },
  failures: [403, 404],
  async handle(context, { grant, params }) {
    const key = await findDeployKey(context.db, grant.repository.id, idOf(params))
    if (key === undefined) throw notFound()
    return jsonReply(200, await deployKeyObject(context, key, grant))
  },
})

const remove = defineOperation({
  id: 'repoDeleteKey',
  method: 'DELETE',
  path: '/repos/{owner}/{repo}/keys/{id}',
  summary: 'Delete a key from a repository',
  tags: ['repository'],
  access: { kind: 'repository', mode: 'admin' },
  scopes: ['write:repository'],
  params: { ...REPOSITORY_PARAMS, id: 'id of the key to delete' },
  query: NO_QUERY,
  success: { status: 204, schema: null },
  failures: [403, 404],
  async handle(context, { grant, params }) {
    if (!(await removeDeployKey(context.db, grant.repository.id, idOf(params)))) throw notFound()
    return { status: 204 }
  },
})

export const DEPLOY_KEY_OPERATIONS: readonly AnyOperation[] = [list, create, get, remove]
