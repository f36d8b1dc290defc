/** Deliveries: an event is stored for each webhook that subscribes to it, and a job sends it. */

import { createHash, randomUUID } from 'node:crypto'
import type { HookEvent } from '../../conf/hook-events.js'
import { hookService } from '../../conf/hook-services.js'
import { parseGlob } from '../../conf/lib/glob.js'
import type { Owner } from '../../sql/accounts/owners.js'
import type { Repository } from '../../sql/repositories/repositories.js'
import { addDeliveries } from '../../sql/webhooks/webhook-deliveries.js'
import { listeningWebhooks, type Webhook } from '../../sql/webhooks/webhooks.js'
import type { Context } from '../request/context.js'
import type { EventPayload } from './event-message.js'
import { servicePayload } from './service-payloads.js'

export interface WebhookEvent {
  readonly event: HookEvent
  /** Repository of the event: its webhooks and those of its owner receive it. */
  readonly repository?: Pick<Repository, 'id' | 'owner'> | undefined
  /** Owner whose webhooks receive an event without a repository, or about a whole repository. */
  readonly owner?: Pick<Owner, 'id'> | undefined
  /** Branch of the event, to which a webhook's branch filter applies. */
  readonly branch?: string | undefined
  /** An event that is enqueued twice under the same key is delivered once. */
  readonly key?: string | undefined
  /** Renders the payload; undefined if the subject was deleted. Called only if needed. */
  readonly payload: () => Promise<object | undefined> | object | undefined
}

/** Stores the event for each webhook that subscribes to it. */
export async function enqueueDeliveries(context: Context, input: WebhookEvent): Promise<void> {
  const { event, key = randomUUID() } = input
  const active = await listeningWebhooks(context.db, placeOf(input))
  const webhooks = active.filter((webhook) => subscribesTo(webhook, input))
  if (webhooks.length === 0) return
  const payload = await input.payload()
  if (payload === undefined) return
  await deliverTo(context, webhooks, { event, payload, key })
}

/** Stores one delivery for each of the webhooks, also if they do not subscribe to the event. */
export async function deliverTo(
  context: Context,
  webhooks: readonly Webhook[],
  {
    event,
    payload,
    key,
  }: { readonly event: HookEvent; readonly payload: object; readonly key: string },
): Promise<void> {
  const deliveries = webhooks.flatMap((webhook) => {
    const body = bodyOf(webhook, event, payload)
    if (body === undefined) return []
    const { id: webhookId } = webhook
    const uuid = uuidOf(`${key} ${webhookId}`)
    return [{ webhookId, uuid, event, payload: JSON.stringify(body, null, 2) }]
  })
  await addDeliveries(context.db, deliveries)
  context.upkeep.pollDeliveries()
}

/** Returns the body for a webhook; undefined if its service gets no such event. */
function bodyOf(
  { type, serviceSettings }: Webhook,
  event: HookEvent,
  payload: object,
): object | undefined {
  const service = hookService(type)
  if (service === undefined) return payload
  return servicePayload(service, serviceSettings, { event, payload: payload as EventPayload })
}

/** Returns true if a webhook of the repository or its owner subscribes to one of the events. */
export async function hasSubscribers(
  context: Context,
  repository: Pick<Repository, 'id' | 'owner'>,
  events: readonly HookEvent[],
): Promise<boolean> {
  const webhooks = await listeningWebhooks(context.db, placeOf({ repository }))
  return webhooks.some((webhook) => webhook.events.some((event) => events.includes(event)))
}

function placeOf({ repository, owner }: Pick<WebhookEvent, 'repository' | 'owner'>) {
  return { repositoryId: repository?.id, ownerId: owner?.id ?? repository?.owner.id }
}

function subscribesTo({ events, branchFilter }: Webhook, { event, branch }: WebhookEvent): boolean {
  if (!events.includes(event)) return false
  if (branch === undefined || branchFilter === '') return true
  const matches = parseGlob(branchFilter)
  return matches?.(branch) === true || matches?.(`refs/heads/${branch}`) === true
}

/** Returns a UUID (RFC 9562 §5.8) that is equal for equal texts. */
function uuidOf(text: string): string {
  const digits = createHash('sha256').update(text).digest('hex')
  const parts = [digits.slice(0, 8), digits.slice(8, 12), `8${digits.slice(12, 15)}`]
  return [...parts, `a${digits.slice(15, 18)}`, digits.slice(18, 30)].join('-')
}
