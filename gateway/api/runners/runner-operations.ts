/** Operations on the runners of one scope: list, read, disable, delete, registration tokens. */

import { Type } from 'typebox'
import { removeRunner, updateRunner } from '../../../sql/runners/runners.js'
import type { RunnerScope } from '../../../sql/runs/run-jobs.js'
import {
  issueRegistrationToken,
  listSeenRunners,
  namedRunner,
} from '../../actions/runners/manage-runners.js'
import type { AccessKind, Grants } from '../../auth/authorize.js'
import {
  EDIT_RUNNER_OPTION,
  REGISTRATION_TOKEN,
  RUNNER,
  RUNNERS,
  runnerObject,
} from '../../objects/runners/runner-object.js'
import type { Context } from '../../request/context.js'
import { type AnyOperation, defineOperation, type Operation } from '../operation.js'
import { NO_QUERY, PAGE_QUERY, pageOf, pageReply } from '../paging.js'
import { jsonReply } from '../surface.js'

/** Differences between the runners of repositories, organizations, users and the site. */
export interface RunnerOperationsOptions<K extends AccessKind>
  extends Pick<Operation<K>, 'path' | 'access' | 'params'> {
  /** Tag of the operations, and category of their scopes. */
  readonly category: 'repository' | 'organization' | 'user' | 'admin'
  /** Part of the ids of the operations that names the scope. */
  readonly word: 'Repo' | 'Org' | 'User' | 'Admin'
  /** Path of the operation that older clients call for a registration token. */
  readonly tokenPath: string
  /** Returns the scope, and the path of the list below `/api/v1`. Throws `not_found`. */
  locate(context: Context, grant: Grants[K]): { readonly scope: RunnerScope; readonly path: string }
}

/** Returns the six operations on the runners of one scope. */
export function runnerOperations<K extends AccessKind>(
  home: RunnerOperationsOptions<K>,
): readonly AnyOperation[] {
  const { access, params, locate, category, word } = home
  const named = { tags: [category], access, query: NO_QUERY }
  const reading = { ...named, scopes: [`read:${category}`] } as const
  const writing = { ...named, scopes: [`write:${category}`] } as const
  const one = {
    path: `${home.path}/{runner_id}`,
    params: { ...params, runner_id: 'id of the runner' },
    failures: [403, 404],
  }
  return [
    defineOperation({
      ...reading,
      id: `get${word}Runners`,
      method: 'GET',
      path: home.path,
      params,
      summary: 'List the runners, without those of wider scopes',
      query: Type.Object(PAGE_QUERY),
      success: { status: 200, schema: RUNNERS },
      failures: [403, 404],
      async handle(context, { grant, query }) {
        const { scope, path } = locate(context, grant)
        const page = pageOf(query)
        const { entries, total } = await listSeenRunners(context.db, scope, page)
        const wrap = (runners: readonly unknown[]) => ({ runners, total_count: total })
        return pageReply(context, entries.map(runnerObject), { path, page, total, wrap })
      },
    }),
    defineOperation({
      ...reading,
      ...one,
      id: `get${word}Runner`,
      method: 'GET',
      summary: 'Get a runner',
      success: { status: 200, schema: RUNNER },
      async handle(context, { grant, params }) {
        const { scope } = locate(context, grant)
        const runner = await namedRunner(context.db, scope, params['runner_id'] ?? '')
        return jsonReply(200, runnerObject(runner))
      },
    }),
    defineOperation({
      ...writing,
      ...one,
      id: `update${word}Runner`,
      method: 'PATCH',
      summary: 'Disable or enable a runner',
      body: EDIT_RUNNER_OPTION,
      success: { status: 200, schema: RUNNER },
      failures: [403, 404, 422],
      async handle(context, { grant, params, body }) {
        const { scope } = locate(context, grant)
        const runner = await namedRunner(context.db, scope, params['runner_id'] ?? '')
        await updateRunner(context.db, runner.id, { isDisabled: body.disabled })
        return jsonReply(200, runnerObject({ ...runner, isDisabled: body.disabled }))
      },
    }),
    defineOperation({
      ...writing,
      ...one,
      id: `delete${word}Runner`,
      method: 'DELETE',
      summary: 'Delete a runner',
      success: { status: 204, schema: null },
      async handle(context, { grant, params }) {
        const { scope } = locate(context, grant)
        const runner = await namedRunner(context.db, scope, params['runner_id'] ?? '')
        await removeRunner(context.db, runner.uuid)
        return { status: 204 }
      },
    }),
    ...tokenOperations(home),
  ]
}

/** Returns the two operations that create a registration token. */
function tokenOperations<K extends AccessKind>({
  path,
  tokenPath,
  access,
  params,
  category,
  word,
  locate,
}: RunnerOperationsOptions<K>): readonly AnyOperation[] {
  const prefix = word.toLowerCase()
  const token = {
    tags: [category],
    access,
    scopes: [`write:${category}`] as const,
    params,
    query: NO_QUERY,
    summary: 'Create a registration token, which replaces the earlier one',
    success: { status: 200, schema: REGISTRATION_TOKEN },
    failures: [403, 404],
    async handle(context: Context, { grant }: { readonly grant: Grants[K] }) {
      const { scope } = locate(context, grant)
      return jsonReply(200, { token: await issueRegistrationToken(context.db, scope) })
    },
  }
  return [
    defineOperation({
      ...token,
      id: `${prefix}CreateRunnerRegistrationToken`,
      method: 'POST',
      path: `${path}/registration-token`,
    }),
    // Older clients send GET, which therefore needs the permission and the scope of a write.
    defineOperation({
      ...token,
      id: `${prefix}GetRunnerRegistrationToken`,
      method: 'GET',
      path: tokenPath,
    }),
  ]
}
