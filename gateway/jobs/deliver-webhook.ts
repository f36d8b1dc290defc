/** Job that sends the due deliveries of a webhook, oldest first; its subject is the webhook id. */

import { isFailure } from '../../conf/failures.js'
import { openInstanceSecret } from '../../conf/instance-secret.js'
import {
  type Attempt,
  DELIVERY_JOB,
  type Delivery,
  enqueueDelivery,
  nextDeliveryTime,
  nextDueDelivery,
  recordAttempt,
} from '../../sql/webhooks/webhook-deliveries.js'
import { findWebhookById, type Webhook } from '../../sql/webhooks/webhooks.js'
import { callOutbound } from '../outbound/client.js'
import { deliveryRequest } from '../outbound/delivery-request.js'
import type { JobContext, JobKind } from './job.js'

/** Maximum time of one run, after which other webhooks may be served. */
const RUN_MS = 10_000

/** Number of bytes of a response that are read and stored. */
const ANSWER_BYTES_MAX = 16_384

/**
 * Deliveries are sent at least once: an attempt is recorded only when it has ended, so a process
 * that is killed before sends the delivery again, with the same id.
 */
export const DELIVER_WEBHOOK: JobKind = {
  kind: DELIVERY_JOB,
  async run(context, subject, signal) {
    const { db } = context
    const webhookId = Number(subject)
    const endsAtMs = Date.now() + RUN_MS
    while (!signal.aborted && Date.now() < endsAtMs) {
      const webhook = await findWebhookById(db, webhookId)
      const delivery = webhook && (await nextDueDelivery(db, webhookId))
      if (webhook === undefined || delivery === undefined) break
      await deliver(context, { webhook, delivery, signal })
    }
    const nextAtMs = await nextDeliveryTime(db, webhookId)
    if (nextAtMs === undefined) return
    await enqueueDelivery(db, webhookId, Math.max(0, nextAtMs - Date.now()))
  },
}

interface Task {
  readonly webhook: Webhook
  readonly delivery: Delivery
  readonly signal: AbortSignal
}

async function deliver(context: JobContext, task: Task): Promise<void> {
  const { db, log, settings } = context
  const { webhook, delivery, signal } = task
  const attempt = await attemptDelivery(context, task)
  // An attempt that the stop of the process has interrupted is not recorded.
  if (signal.aborted && attempt.status === undefined) return
  const isDelivered = attempt.status !== undefined && attempt.status >= 200 && attempt.status < 300
  const pauseMs = isDelivered ? undefined : settings.webhooks.retryAfterMs[delivery.attempts]
  const nextAtMs = pauseMs === undefined ? undefined : attempt.atMs + pauseMs
  await recordAttempt(db, delivery, attempt, { isDelivered, nextAtMs })
  const { status, error } = attempt
  const about = { webhook: webhook.id, delivery: delivery.uuid, event: delivery.event, status }
  if (isDelivered) log.debug(about, 'a webhook delivery succeeded')
  else
    log.info(
      { ...about, reason: error, isGivenUp: pauseMs === undefined },
      'a webhook delivery failed',
    )
}

async function attemptDelivery(
  { settings }: JobContext,
  { webhook, delivery, signal }: Task,
): Promise<Attempt> {
  const { dir } = settings.data
  const { method, url, body, headers, shownHeaders } = deliveryRequest(
    webhook,
    delivery,
    await openInstanceSecret(dir),
  )
  const base = { atMs: Date.now(), requestHeaders: shownHeaders }
  try {
    const answer = await callOutbound({
      url,
      method,
      headers,
      body,
      signal,
      timeoutMs: settings.webhooks.timeoutMs,
      answerBytesMax: ANSWER_BYTES_MAX,
      allowPrivate: settings.outbound.allow,
    })
    const { status, headers: responseHeaders } = answer
    return { ...base, status, responseHeaders, responseBody: answer.body.toString(), error: '' }
  } catch (error) {
    if (!isFailure(error, 'invalid') && !isFailure(error, 'bad_gateway')) throw error
    const nothing = { status: undefined, responseHeaders: {}, responseBody: '' }
    return { ...base, ...nothing, error: error.message }
  }
}
