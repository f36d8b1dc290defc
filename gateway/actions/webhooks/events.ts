/** Events: what happened is written down for each webhook that listens, and goes out at once. */

import { createHash, randomUUID } from 'node:crypto'
import { parseGlob } from '../../../conf/glob.js'
import type { HookEvent } from '../../../conf/hook-events.js'
import type { Owner } from '../../../sql/accounts/owners.js'
import type { Repository } from '../../../sql/repositories/repositories.js'
import { addDeliveries } from '../../../sql/webhooks/webhook-deliveries.js'
import { listeningWebhooks, type Webhook } from '../../../sql/webhooks/webhooks.js'
import type { Context } from '../../request/context.js'

export interface DomainEvent {
  readonly event: HookEvent
  /** Where it happened: its webhooks and those of its owner listen. */
  readonly repository?: Pick<Repository, 'id' | 'owner'> | undefined
  /** For what happened in no repository, or to a whole one: its webhooks listen. */
  readonly owner?: Pick<Owner, 'id'> | undefined
  /** The branch that it is about, where it is about one: webhooks may listen to some. */
  readonly branch?: string | undefined
  /** The same event told again under the same key is delivered once. */
  readonly key?: string | undefined
  /** Made only where somebody listens; undefined: there is nothing left to tell of. */
  readonly payload: () => Promise<object | undefined> | object | undefined
}

/** Tells the webhooks. Never rejects: what has happened has happened. */
export async function emit(context: Context, event: DomainEvent): Promise<void> {
  try {
    await recordEvent(context, event)
  } catch (error) {
    context.log.warn({ error, event: event.event }, 'webhooks were not told of an event')
  }
}

/** As `emit`, for what is costly to look up: it is made only where somebody listens. */
export async function emitIfSubscribed(
  context: Context,
  { event, repository }: { readonly event: HookEvent; readonly repository: Repository },
  make: () => Promise<DomainEvent | undefined>,
): Promise<void> {
  try {
    if (!(await hasSubscribers(context, repository, [event]))) return
    const made = await make()
    if (made !== undefined) await recordEvent(context, made)
  } catch (error) {
    context.log.warn({ error, event }, 'webhooks were not told of an event')
  }
}

/** As `emit`, for who can try again: settles when all deliveries are written down. */
export async function recordEvent(context: Context, told: DomainEvent): Promise<void> {
  const { event, key = randomUUID() } = told
  const listening = await listeningWebhooks(context.db, placeOf(told))
  const webhooks = listening.filter((webhook) => listensTo(webhook, told))
  if (webhooks.length === 0) return
  const body = await told.payload()
  if (body === undefined) return
  const payload = JSON.stringify(body, null, 2)
  await deliverTo(context, webhooks, { event, payload, key })
}

/** Writes the same down for these webhooks, whether they listen to such or not. */
export async function deliverTo(
  context: Context,
  webhooks: readonly Webhook[],
  {
    event,
    payload,
    key,
  }: { readonly event: HookEvent; readonly payload: string; readonly key: string },
): Promise<void> {
  await addDeliveries(
    context.db,
    webhooks.map(({ id }) => ({ webhookId: id, uuid: uuidOf(`${key} ${id}`), event, payload })),
  )
  context.upkeep.pollDeliveries()
}

/** Whether anybody listens to one of these in the repository. */
export async function hasSubscribers(
  context: Context,
  repository: Pick<Repository, 'id' | 'owner'>,
  events: readonly HookEvent[],
): Promise<boolean> {
  const webhooks = await listeningWebhooks(context.db, placeOf({ repository }))
  return webhooks.some((webhook) => webhook.events.some((event) => events.includes(event)))
}

function placeOf({ repository, owner }: Pick<DomainEvent, 'repository' | 'owner'>) {
  return { repositoryId: repository?.id, ownerId: owner?.id ?? repository?.owner.id }
}

function listensTo({ events, branchFilter }: Webhook, { event, branch }: DomainEvent): boolean {
  if (!events.includes(event)) return false
  if (branch === undefined || branchFilter === '') return true
  const fits = parseGlob(branchFilter)
  return fits?.(branch) === true || fits?.(`refs/heads/${branch}`) === true
}

/** A UUID (RFC 9562 §5.8) that is the same for the same text. */
function uuidOf(text: string): string {
  const digits = createHash('sha256').update(text).digest('hex')
  const parts = [digits.slice(0, 8), digits.slice(8, 12), `8${digits.slice(12, 15)}`]
  return [...parts, `a${digits.slice(15, 18)}`, digits.slice(18, 30)].join('-')
}
