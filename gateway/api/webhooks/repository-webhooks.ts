/** Webhooks of a repository over the API, for its administrators, and test deliveries. */

import { Type } from 'typebox'
import { notFound } from '../../../conf/failures.js'
import { namedWebhook } from '../../actions/webhooks/webhook-input.js'
import { testWebhook } from '../../webhooks/test-webhook.js'
import { type AnyOperation, defineOperation } from '../operation.js'
import { hookOperations } from './webhooks.js'

const PARAMS = { owner: 'owner of the repo', repo: 'name of the repo' }

const operations = hookOperations({
  path: '/repos/{owner}/{repo}/hooks',
  category: 'repository',
  access: { kind: 'repository', mode: 'admin' },
  params: PARAMS,
  failures: [403, 404],
  names: {
    list: ['repoListHooks', 'List the hooks in a repository'],
    create: ['repoCreateHook', 'Create a hook'],
    get: ['repoGetHook', 'Get a hook'],
    edit: ['repoEditHook', 'Edit a hook in a repository'],
    remove: ['repoDeleteHook', 'Delete a hook in a repository'],
  },
  locate: ({ repository: { id, owner, name } }) => ({
    place: { repositoryId: id },
    path: `/repos/${owner.name}/${name}/hooks`,
  }),
})

/** Delivers a push event for the newest commit of a branch; an empty repository sends nothing. */
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
    const { ref } = query
    const webhook = await namedWebhook(context, { repositoryId: repository.id }, params)
    const isNotified = await testWebhook(context, { repository, user, webhook, ref })
    if (!isNotified && ref) throw notFound()
    return { status: 204 }
  },
})

export const REPOSITORY_HOOK_OPERATIONS: readonly AnyOperation[] = [...operations, test]
