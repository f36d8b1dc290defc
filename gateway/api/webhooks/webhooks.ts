/** Operations on the webhooks of one kind of owner: list, add, read, edit, delete. */

import { Type } from 'typebox'
import {
  createWebhook,
  deleteWebhook,
  type HookPlace,
  listWebhooks,
  updateWebhook,
} from '../../../sql/webhooks/webhooks.js'
import { namedWebhook } from '../../actions/webhooks/webhook-input.js'
import type { AccessKind, Grants } from '../../auth/authorize.js'
import {
  CREATE_HOOK_OPTION,
  EDIT_HOOK_OPTION,
  HOOK,
  hookObject,
  patchHook,
  readNewHook,
} from '../../objects/webhooks/webhook-object.js'
import { type AnyOperation, defineOperation, type Operation } from '../operation.js'
import { NO_QUERY, PAGE_QUERY, pageOf, pageReply } from '../paging.js'
import { jsonReply } from '../surface.js'

/** Differences between the webhooks of repositories, organizations and users. */
export interface HookOperationsOptions<K extends AccessKind>
  extends Pick<Operation<K>, 'path' | 'access' | 'params'> {
  /** Tag of the operations, and category of their scopes. */
  readonly category: 'repository' | 'organization' | 'user'
  /** Error statuses of the operations that list and create webhooks. */
  readonly failures: readonly number[]
  /** Id and summary of each operation. */
  readonly names: Readonly<
    Record<'list' | 'create' | 'get' | 'edit' | 'remove', readonly [id: string, summary: string]>
  >
  /** Returns the owner of the webhooks, and the path of their list below `/api/v1`. */
  locate(grant: Grants[K]): { readonly place: HookPlace; readonly path: string }
}

/** Returns the five operations on webhooks of one kind of owner. */
export function hookOperations<K extends AccessKind>(
  home: HookOperationsOptions<K>,
): readonly AnyOperation[] {
  const { access, params, failures, locate } = home
  const named = (action: keyof typeof home.names) => {
    const [id, summary] = home.names[action]
    return { id, summary, tags: [home.category], access }
  }
  const reading = { scopes: [`read:${home.category}`] } as const
  const writing = { scopes: [`write:${home.category}`] } as const
  const all = { path: home.path, params }
  const one = { path: `${home.path}/{id}`, params: { ...params, id: 'id of the hook' } }
  return [
    defineOperation({
      ...named('list'),
      method: 'GET',
      ...all,
      ...reading,
      failures,
      query: Type.Object(PAGE_QUERY),
      success: { status: 200, schema: Type.Array(HOOK) },
      async handle(context, { grant, query }) {
        const { place, path } = locate(grant)
        const page = pageOf(query)
        const { entries, total } = await listWebhooks(context.db, place, page)
        const objects = await Promise.all(entries.map((webhook) => hookObject(context, webhook)))
        return pageReply(context, objects, { path, page, total })
      },
    }),
    defineOperation({
      ...named('create'),
      method: 'POST',
      ...all,
      ...writing,
      query: NO_QUERY,
      failures: [...failures, 422],
      body: CREATE_HOOK_OPTION,
      success: { status: 201, schema: HOOK },
      async handle(context, { grant, body }) {
        const input = await readNewHook(context, body)
        const webhook = await createWebhook(context.db, locate(grant).place, input)
        return jsonReply(201, await hookObject(context, webhook))
      },
    }),
    defineOperation({
      ...named('get'),
      method: 'GET',
      ...one,
      ...reading,
      query: NO_QUERY,
      failures: [403, 404],
      success: { status: 200, schema: HOOK },
      async handle(context, { grant, params }) {
        const webhook = await namedWebhook(context, locate(grant).place, params)
        return jsonReply(200, await hookObject(context, webhook))
      },
    }),
    defineOperation({
      ...named('edit'),
      method: 'PATCH',
      ...one,
      ...writing,
      query: NO_QUERY,
      failures: [403, 404, 422],
      body: EDIT_HOOK_OPTION,
      success: { status: 200, schema: HOOK },
      async handle(context, { grant, params, body }) {
        const { place } = locate(grant)
        const webhook = await namedWebhook(context, place, params)
        await updateWebhook(context.db, webhook.id, await patchHook(context, webhook, body))
        return jsonReply(200, await hookObject(context, await namedWebhook(context, place, params)))
      },
    }),
    defineOperation({
      ...named('remove'),
      method: 'DELETE',
      ...one,
      ...writing,
      query: NO_QUERY,
      failures: [403, 404],
      success: { status: 204, schema: null },
      async handle(context, { grant, params }) {
        const { place } = locate(grant)
        const { id } = await namedWebhook(context, place, params)
        await deleteWebhook(context.db, place, id)
        return { status: 204 }
      },
    }),
  ]
}
