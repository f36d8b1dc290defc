/** What operations on webhooks do alike, whosever these are. */

import type { Static } from 'typebox'
import { Failure } from '../../../conf/failures.js'
import type { Reply } from '../../../conf/http.js'
import {
  createWebhook,
  deleteWebhook,
  findWebhook,
  type HookPlace,
  listWebhooks,
  updateWebhook,
  type Webhook,
} from '../../../sql/webhooks.js'
import type { Context } from '../../context.js'
import { jsonReply } from '../door.js'
import { pageOf, pageReply } from '../paging.js'
import {
  type CREATE_HOOK_OPTION,
  type EDIT_HOOK_OPTION,
  hookObject,
  patchHook,
  readNewHook,
} from './hook-object.js'

export interface HookList {
  readonly place: HookPlace
  /** Below `/api/v1`. */
  readonly path: string
  readonly query: { readonly page?: number; readonly limit?: number }
}

/** A page of the webhooks there. */
export async function answerHooks(
  context: Context,
  { place, path, query }: HookList,
): Promise<Reply> {
  const page = pageOf(query)
  const { entries, total } = await listWebhooks(context.db, place, page)
  const objects = await Promise.all(entries.map((webhook) => hookObject(context, webhook)))
  return pageReply(context, objects, { path, page, total })
}

/** Makes a webhook there. */
export async function answerNewHook(
  context: Context,
  place: HookPlace,
  body: Static<typeof CREATE_HOOK_OPTION>,
): Promise<Reply> {
  const webhook = await createWebhook(context.db, place, await readNewHook(context, body))
  return jsonReply(201, await hookObject(context, webhook))
}

export interface NamedHook {
  readonly place: HookPlace
  readonly params: Readonly<Record<string, string>>
}

/** The webhook of that id. */
export async function answerHook(context: Context, named: NamedHook): Promise<Reply> {
  return jsonReply(200, await hookObject(context, await namedHook(context, named)))
}

/** Changes the webhook of that id. */
export async function answerHookPatch(
  context: Context,
  named: NamedHook,
  body: Static<typeof EDIT_HOOK_OPTION>,
): Promise<Reply> {
  const webhook = await namedHook(context, named)
  await updateWebhook(context.db, webhook.id, await patchHook(context, webhook, body))
  return answerHook(context, named)
}

/** Removes the webhook of that id. */
export async function answerHookRemoval(
  context: Context,
  { place, params }: NamedHook,
): Promise<Reply> {
  if (!(await deleteWebhook(context.db, place, hookIdOf(params)))) throw noSuchHook()
  return { status: 204 }
}

/** The webhook that the path names. Throws `not_found`. */
export async function namedHook({ db }: Context, { place, params }: NamedHook): Promise<Webhook> {
  const webhook = await findWebhook(db, place, hookIdOf(params))
  if (webhook === undefined) throw noSuchHook()
  return webhook
}

function hookIdOf({ id = '' }: Readonly<Record<string, string>>): number {
  if (!/^\d{1,15}$/.test(id)) throw noSuchHook()
  return Number(id)
}

function noSuchHook(): Failure {
  return new Failure('not_found', "The target couldn't be found.")
}
