/** Webhook deliveries, sent or waiting, each with its last attempt. */

import type { HookEvent } from '../../conf/hook-events.js'
import { enqueueJob } from '../admin/jobs.js'
import { type Database, transaction } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import { isUniqueViolation } from '../database/errors.js'

/** Kind of the job that sends deliveries; its subject is the webhook's id. */
export const DELIVERY_JOB = 'deliver-webhook'

export interface NewDelivery {
  readonly webhookId: number
  /** Identifier that the receiver gets; deliveries with the same one are duplicates. */
  readonly uuid: string
  readonly event: HookEvent
  /** Text that is signed and sent. */
  readonly payload: string
}

export interface Delivery extends NewDelivery {
  readonly id: number
  readonly attempts: number
  /** Undefined if the delivery has succeeded or was given up. */
  readonly nextAtMs: number | undefined
  readonly isDelivered: boolean
  readonly createdAtMs: number
  readonly lastAttempt: Attempt | undefined
}

/** Request to a receiver, and the response. */
export interface Attempt {
  readonly atMs: number
  /** Request headers; the values of secret ones are left out. */
  readonly requestHeaders: Readonly<Record<string, string>>
  /** Undefined if there was no response. */
  readonly status: number | undefined
  readonly responseHeaders: Readonly<Record<string, string>>
  /** Beginning of the response body. */
  readonly responseBody: string
  /** Reason why there was no response; empty if there was one. */
  readonly error: string
}

/**
 * Inserts deliveries and enqueues the jobs that send them, in one transaction. Deliveries whose
 * UUID exists are skipped.
 */
export async function addDeliveries(
  db: Database,
  deliveries: readonly NewDelivery[],
): Promise<void> {
  await transaction(db, async (trx) => {
    for (const delivery of deliveries) {
      if (await insertDelivery(trx, delivery)) await enqueueDelivery(trx, delivery.webhookId, 0)
    }
  })
}

async function insertDelivery(db: Database, delivery: NewDelivery): Promise<boolean> {
  const { webhookId, uuid, event, payload } = delivery
  const nowMs = Date.now()
  try {
    await db('webhook_deliveries').insert({
      webhook_id: webhookId,
      uuid,
      event,
      payload,
      attempts: 0,
      next_at: nowMs,
      is_delivered: false,
      attempted_at: null,
      request_headers: '{}',
      error: '',
      response_status: null,
      response_headers: '{}',
      response_body: '',
      created_at: nowMs,
    })
    return true
  } catch (error) {
    if (isUniqueViolation(error)) return false
    throw error
  }
}

/**
 * Enqueues the job that sends the webhook's due deliveries. A job that waits longer is moved to the
 * earlier time.
 */
export async function enqueueDelivery(
  db: Database,
  webhookId: number,
  delayMs: number,
): Promise<void> {
  await enqueueJob(db, {
    kind: DELIVERY_JOB,
    subject: String(webhookId),
    delayMs,
    isSooner: true,
  })
}

/** Returns the oldest due delivery of the webhook. */
export async function nextDueDelivery(
  db: Database,
  webhookId: number,
): Promise<Delivery | undefined> {
  const [row] = await selectRows<DeliveryRow>(
    db,
    `${SELECT} where webhook_id = ? and next_at <= ? order by id limit 1`,
    [webhookId, Date.now()],
  )
  return row === undefined ? undefined : deliveryOf(row)
}

/** Returns the time when the next delivery of the webhook is due; undefined if none waits. */
export async function nextDeliveryTime(
  db: Database,
  webhookId: number,
): Promise<number | undefined> {
  const [row] = await selectRows<{ next_at: number | null }>(
    db,
    'select min(next_at) as next_at from webhook_deliveries where webhook_id = ?',
    [webhookId],
  )
  return row?.next_at ?? undefined
}

export interface AttemptOutcome {
  readonly isDelivered: boolean
  /** Time of the next attempt; undefined if there is none. */
  readonly nextAtMs: number | undefined
}

/** Stores an attempt and its outcome. */
export async function recordAttempt(
  db: Database,
  { id, attempts }: Pick<Delivery, 'id' | 'attempts'>,
  attempt: Attempt,
  outcome: AttemptOutcome,
): Promise<void> {
  await db('webhook_deliveries')
    .where({ id })
    .update({
      attempts: attempts + 1,
      next_at: outcome.nextAtMs ?? null,
      is_delivered: outcome.isDelivered,
      attempted_at: attempt.atMs,
      request_headers: JSON.stringify(attempt.requestHeaders),
      response_status: attempt.status ?? null,
      response_headers: JSON.stringify(attempt.responseHeaders),
      response_body: attempt.responseBody,
      error: attempt.error,
    })
}

/** Returns the deliveries of a webhook, newest first. */
export async function listDeliveries(
  db: Database,
  webhookId: number,
  limit: number,
): Promise<readonly Delivery[]> {
  const rows = await selectRows<DeliveryRow>(
    db,
    `${SELECT} where webhook_id = ? order by id desc limit ?`,
    [webhookId, limit],
  )
  return rows.map(deliveryOf)
}

/**
 * Sends a delivery again, with all of its attempts. Returns false if there is no such delivery, or
 * if `webhookId` is given and another webhook has it.
 */
export async function redeliver(
  db: Database,
  { uuid, webhookId }: { readonly uuid: string; readonly webhookId?: number },
): Promise<boolean> {
  const where = webhookId === undefined ? { uuid } : { uuid, webhook_id: webhookId }
  return await transaction(db, async (trx) => {
    const row = await trx('webhook_deliveries').where(where).first('id', 'webhook_id')
    if (row === undefined) return false
    await trx('webhook_deliveries')
      .where({ id: row.id })
      .update({ attempts: 0, next_at: Date.now(), is_delivered: false })
    await enqueueDelivery(trx, row.webhook_id, 0)
    return true
  })
}

/**
 * Deletes deliveries from before that time that do not wait for an attempt. Returns their number.
 */
export async function removeOldDeliveries(db: Database, beforeMs: number): Promise<number> {
  return await db('webhook_deliveries')
    .where('created_at', '<', beforeMs)
    .whereNull('next_at')
    .delete()
}

const SELECT = `select id, webhook_id, uuid, event, payload, attempts, next_at, is_delivered,
  attempted_at, request_headers, response_status, response_headers, response_body, error,
  created_at from webhook_deliveries`

interface DeliveryRow {
  readonly id: number
  readonly webhook_id: number
  readonly uuid: string
  readonly event: HookEvent
  readonly payload: string
  readonly attempts: number
  readonly next_at: number | null
  readonly is_delivered: number
  readonly attempted_at: number | null
  readonly request_headers: string
  readonly response_status: number | null
  readonly response_headers: string
  readonly response_body: string
  readonly error: string
  readonly created_at: number
}

function deliveryOf(row: DeliveryRow): Delivery {
  return {
    id: row.id,
    webhookId: row.webhook_id,
    uuid: row.uuid,
    event: row.event,
    payload: row.payload,
    attempts: row.attempts,
    nextAtMs: row.next_at ?? undefined,
    isDelivered: row.is_delivered === 1,
    createdAtMs: row.created_at,
    lastAttempt:
      row.attempted_at === null
        ? undefined
        : {
            atMs: row.attempted_at,
            requestHeaders: JSON.parse(row.request_headers),
            status: row.response_status ?? undefined,
            responseHeaders: JSON.parse(row.response_headers),
            responseBody: row.response_body,
            error: row.error,
          },
  }
}
