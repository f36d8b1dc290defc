/** Operations on the webhooks of one kind of place: list, add, read, edit, delete. */

import { type TOptional, type TSchema, Type } from 'typebox'
import {
  createWebhook,
  deleteWebhook,
  type HookPlace,
  type HookSearch,
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

/** Differences between the webhooks of repositories, organizations, users and the site. */
export interface HookOperationsOptions<K extends AccessKind>
  extends Pick<Operation<K>, 'path' | 'access' | 'params'> {
  /** Tag of the operations, and category of their scopes. */
  readonly category: 'repository' | 'organization' | 'user' | 'admin'
  /** Error statuses of the operations that list and create webhooks. */
  readonly failures: readonly number[]
  /** Id and summary of each operation. */
  readonly names: Readonly<
    Record<'list' | 'create' | 'get' | 'edit' | 'remove', readonly [id: string, summary: string]>
  >
  /** Further parameters of the list. */
  readonly listQuery?: Readonly<Record<string, TOptional<TSchema>>>
  /** Returns the place of the webhooks, and the path of their list below `/api/v1`. */
  locate(grant: Grants[K], request: HookRequest): HookLocation
}

/** Settings of a request that can select one of several places. */
export interface HookRequest {
  /** Query of a list. */
  readonly query?: Readonly<Record<string, unknown>>
  /** Configuration of a new webhook. */
  readonly config?: Readonly<Record<string, string>>
}

export interface HookLocation {
  /** Place of a new webhook. */
  readonly place: HookPlace
  /** Webhooks that are listed, read, edited and deleted; by default those of the place. */
  readonly search?: HookSearch
  readonly path: string
  /** Query parameters that the links to other pages of the list repeat. */
  readonly query?: Readonly<Record<string, string>>
}

/** Returns the five operations on webhooks of one kind of place. */
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
      query: Type.Object({ ...PAGE_QUERY, ...home.listQuery }),
      success: { status: 200, schema: Type.Array(HOOK) },
      async handle(context, { grant, query }) {
        const { place, search = place, path, query: kept = {} } = locate(grant, { query })
        const page = pageOf(query)
        const { entries, total } = await listWebhooks(context.db, search, page)
        const objects = await Promise.all(entries.map((webhook) => hookObject(context, webhook)))
        return pageReply(context, objects, { path, query: kept, page, total })
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
        const { place } = locate(grant, { config: body.config })
        const input = await readNewHook(context, body)
        const webhook = await createWebhook(context.db, place, input)
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
        const { place, search = place } = locate(grant, {})
        const webhook = await namedWebhook(context, search, params)
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
        const { place, search = place } = locate(grant, {})
        const webhook = await namedWebhook(context, search, params)
        await updateWebhook(context.db, webhook.id, await patchHook(context, webhook, body))
        const edited = await namedWebhook(context, search, params)
        return jsonReply(200, await hookObject(context, edited))
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
        const { place, search = place } = locate(grant, {})
        const { id } = await namedWebhook(context, search, params)
        await deleteWebhook(context.db, search, id)
        return { status: 204 }
      },
    }),
  ]
}
