/** Webhooks of a repository over the API, for who administers it, and a try of each. */

import { randomUUID } from 'node:crypto'
import { Type } from 'typebox'
import { withObjects } from '../../../cgi/objects.js'
import { repositoryPath } from '../../../cgi/paths.js'
import { findRevision } from '../../../cgi/revision.js'
import { Failure } from '../../../conf/failures.js'
import { deliverTo } from '../../actions/events.js'
import { testPushPayload } from '../../actions/push-payload.js'
import { type AnyOperation, defineOperation } from '../operation.js'
import { NO_QUERY, PAGE_QUERY } from '../paging.js'
import {
  answerHook,
  answerHookPatch,
  answerHookRemoval,
  answerHooks,
  answerNewHook,
  namedHook,
} from './hook-answers.js'
import { CREATE_HOOK_OPTION, EDIT_HOOK_OPTION, HOOK } from './hook-object.js'

const PARAMS = { owner: 'owner of the repo', repo: 'name of the repo' }

const list = defineOperation({
  id: 'repoListHooks',
  method: 'GET',
  path: '/repos/{owner}/{repo}/hooks',
  summary: 'List the hooks in a repository',
  tags: ['repository'],
  access: { kind: 'repository', mode: 'admin' },
  scopes: ['read:repository'],
  params: PARAMS,
  query: Type.Object(PAGE_QUERY),
  success: { status: 200, schema: Type.Array(HOOK) },
  failures: [403, 404],
  handle: (context, { grant, query }) =>
    answerHooks(context, {
      place: { repositoryId: grant.repository.id },
      path: `/repos/${grant.repository.owner.name}/${grant.repository.name}/hooks`,
      query,
    }),
})

const create = defineOperation({
  id: 'repoCreateHook',
  method: 'POST',
  path: '/repos/{owner}/{repo}/hooks',
  summary: 'Create a hook',
  tags: ['repository'],
  access: { kind: 'repository', mode: 'admin' },
  scopes: ['write:repository'],
  params: PARAMS,
  query: NO_QUERY,
  body: CREATE_HOOK_OPTION,
  success: { status: 201, schema: HOOK },
  failures: [403, 404, 422],
  handle: (context, { grant, body }) =>
    answerNewHook(context, { repositoryId: grant.repository.id }, body),
})

const get = defineOperation({
  id: 'repoGetHook',
  method: 'GET',
  path: '/repos/{owner}/{repo}/hooks/{id}',
  summary: 'Get a hook',
  tags: ['repository'],
  access: { kind: 'repository', mode: 'admin' },
  scopes: ['read:repository'],
  params: { ...PARAMS, id: 'id of the hook' },
  query: NO_QUERY,
  success: { status: 200, schema: HOOK },
  failures: [403, 404],
  handle: (context, { grant, params }) =>
    answerHook(context, { place: { repositoryId: grant.repository.id }, params }),
})

const edit = defineOperation({
  id: 'repoEditHook',
  method: 'PATCH',
  path: '/repos/{owner}/{repo}/hooks/{id}',
  summary: 'Edit a hook in a repository',
  tags: ['repository'],
  access: { kind: 'repository', mode: 'admin' },
  scopes: ['write:repository'],
  params: { ...PARAMS, id: 'id of the hook' },
  query: NO_QUERY,
  body: EDIT_HOOK_OPTION,
  success: { status: 200, schema: HOOK },
  failures: [403, 404, 422],
  handle: (context, { grant, params, body }) =>
    answerHookPatch(context, { place: { repositoryId: grant.repository.id }, params }, body),
})

const remove = defineOperation({
  id: 'repoDeleteHook',
  method: 'DELETE',
  path: '/repos/{owner}/{repo}/hooks/{id}',
  summary: 'Delete a hook in a repository',
  tags: ['repository'],
  access: { kind: 'repository', mode: 'admin' },
  scopes: ['write:repository'],
  params: { ...PARAMS, id: 'id of the hook' },
  query: NO_QUERY,
  success: { status: 204, schema: null },
  failures: [403, 404],
  handle: (context, { grant, params }) =>
    answerHookRemoval(context, { place: { repositoryId: grant.repository.id }, params }),
})

/** The newest commit of a branch is told as if it had been pushed; of an empty one, nothing. */
const test = defineOperation({
  id: 'repoTestHook',
  method: 'POST',
  path: '/repos/{owner}/{repo}/hooks/{id}/tests',
  summary: 'Test a push webhook',
  tags: ['repository'],
  access: { kind: 'repository', mode: 'admin' },
  scopes: ['write:repository'],
  params: { ...PARAMS, id: 'id of the hook' },
  query: Type.Object({
    ref: Type.Optional(
      Type.String({ description: 'branch, tag or commit; by default the default branch' }),
    ),
  }),
  success: { status: 204, schema: null },
  failures: [403, 404],
  async handle(context, { grant, params, query }) {
    const { repository, user } = grant
    const webhook = await namedHook(context, { place: { repositoryId: repository.id }, params })
    const path = repositoryPath(context.settings.data.dir, repository.storage)
    const text = query.ref || `refs/heads/${repository.defaultBranch}`
    const found = await withObjects(context.git, path, (objects) => findRevision(objects, text))
    if (found === undefined) {
      if (query.ref) throw new Failure('not_found', "The target couldn't be found.")
      return { status: 204 }
    }
    const { name: ref, commitId } = found
    const pusher = user ?? repository.owner
    const payload = await testPushPayload(context, { repository, pusher, ref, commitId })
    const told = JSON.stringify(payload, null, 2)
    await deliverTo(context, [webhook], { event: 'push', payload: told, key: randomUUID() })
    return { status: 204 }
  },
})

export const REPOSITORY_HOOK_OPERATIONS: readonly AnyOperation[] = [
  ...[list, create, get, edit, remove, test],
]
