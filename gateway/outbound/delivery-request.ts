/** Request of a webhook delivery: body, headers and signatures. */

import { createHmac } from 'node:crypto'
import { eventName } from '../../conf/hook-events.js'
import { hookService } from '../../conf/hook-services.js'
import type { InstanceSecret } from '../../conf/instance-secret.js'
import { SEAL_CONTEXTS } from '../../conf/seal-contexts.js'
import type { Delivery } from '../../sql/webhooks/webhook-deliveries.js'
import type { Webhook } from '../../sql/webhooks/webhooks.js'

/** Context with which the secret of a webhook is sealed (see `InstanceSecret`). */
export const SECRET_SEAL_CONTEXT = SEAL_CONTEXTS.webhookSecret()
/** Context with which the header Authorization of a webhook is sealed. */
export const AUTHORIZATION_SEAL_CONTEXT = SEAL_CONTEXTS.webhookAuthorization()

export interface DeliveryRequest {
  readonly method: 'POST' | 'PUT'
  readonly url: URL
  readonly body: Buffer
  readonly headers: Readonly<Record<string, string>>
  /** Headers that may be stored and shown, without Authorization. */
  readonly shownHeaders: Readonly<Record<string, string>>
}

/** Creates the request. The signatures are of the payload, also if the body is a form with it. */
export function deliveryRequest(
  webhook: Pick<
    Webhook,
    'type' | 'url' | 'contentType' | 'target' | 'secretSealed' | 'authorizationSealed'
  >,
  { payload, uuid, event }: Pick<Delivery, 'payload' | 'uuid' | 'event'>,
  secret: InstanceSecret,
): DeliveryRequest {
  const { contentType, target, secretSealed, authorizationSealed } = webhook
  // Services read JSON only.
  const isJson = contentType === 'json' || hookService(webhook.type) !== undefined
  const key =
    secretSealed === undefined ? undefined : secret.unseal(secretSealed, SECRET_SEAL_CONTEXT)
  const sign = (algorithm: 'sha1' | 'sha256') =>
    key === undefined ? '' : createHmac(algorithm, key).update(payload).digest('hex')
  const sha256 = sign('sha256')
  const shownHeaders = {
    'Content-Type': CONTENT_TYPES[isJson ? 'json' : 'form'],
    'User-Agent': 'Gatehouse',
    ...three('Delivery', uuid),
    ...three('Event', eventName(event)),
    ...three('Event-Type', event),
    'X-Gitea-Signature': sha256,
    'X-Gogs-Signature': sha256,
    'X-Hub-Signature': `sha1=${sign('sha1')}`,
    'X-Hub-Signature-256': `sha256=${sha256}`,
    'X-Gitea-Hook-Installation-Target-Type': target,
    'X-GitHub-Hook-Installation-Target-Type': target,
  }
  const authorization =
    authorizationSealed === undefined
      ? {}
      : { Authorization: secret.unseal(authorizationSealed, AUTHORIZATION_SEAL_CONTEXT) }
  const sent =
    webhook.type === 'feishu' && key !== undefined ? signForFeishu(payload, key) : payload
  const text = isJson ? sent : new URLSearchParams({ payload }).toString()
  const headers = { ...shownHeaders, ...authorization }
  return { ...targetOf(webhook, uuid), body: Buffer.from(text), headers, shownHeaders }
}

/**
 * Returns the body with the signature that Feishu requires of bots with a secret. It refuses a time
 * that is more than an hour old, so each attempt has a new one.
 */
function signForFeishu(payload: string, key: string): string {
  const timestamp = String(Math.floor(Date.now() / 1_000))
  // The time and the secret are the key, and the signed message is empty.
  const sign = createHmac('sha256', `${timestamp}\n${key}`).digest('base64')
  return JSON.stringify({ timestamp, sign, ...JSON.parse(payload) }, null, 2)
}

/** Matrix wants a transaction id, under which it takes a repeated delivery once. */
function targetOf(
  { type, url }: Pick<Webhook, 'type' | 'url'>,
  uuid: string,
): Pick<DeliveryRequest, 'method' | 'url'> {
  if (type !== 'matrix') return { method: 'POST', url: new URL(url) }
  const target = new URL(url)
  target.pathname = `${target.pathname.replace(/\/$/, '')}/${uuid}`
  return { method: 'PUT', url: target }
}

const CONTENT_TYPES = {
  json: 'application/json',
  form: 'application/x-www-form-urlencoded',
} as const

/** Returns a header in the names of three products, in the letter case that receivers expect. */
function three(name: string, value: string): Readonly<Record<string, string>> {
  return Object.fromEntries(['Gitea', 'Gogs', 'GitHub'].map((of) => [`X-${of}-${name}`, value]))
}
