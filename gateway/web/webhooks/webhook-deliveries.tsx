/** Deliveries of a webhook with their results. */

import type { JSX } from 'preact/jsx-runtime'
import type { Delivery } from '../../../sql/webhooks/webhook-deliveries.js'
import { Shown } from '../../rendering/visible-text.js'
import { Ago, agoOf } from '../kit/times.js'

const SHOWN_CHARACTERS_MAX = 8_192

export interface DeliveriesProps {
  /** URL of the webhook's page. */
  readonly address: string
  readonly deliveries: readonly Delivery[]
}

/** Renders deliveries, newest first, each with its last attempt. */
export function Deliveries({ address, deliveries }: DeliveriesProps): JSX.Element {
  if (deliveries.length === 0) return <p class="empty">There are no deliveries yet.</p>
  return (
    <ul class="list">
      {deliveries.map((delivery) => (
        <li>
          <details class="grow">
            <summary>
              <span class="label">{delivery.lastAttempt?.status ?? 'no response'}</span>{' '}
              <strong>{delivery.event}</strong>{' '}
              <Ago atMs={delivery.lastAttempt?.atMs ?? delivery.createdAtMs} />{' '}
              <Shown text={outcomeOf(delivery, Date.now())} />
            </summary>
            <Exchange address={address} delivery={delivery} />
          </details>
        </li>
      ))}
    </ul>
  )
}

/** Returns a sentence about the result of a delivery. */
export function outcomeOf(delivery: Delivery, nowMs: number): string {
  const { isDelivered, nextAtMs, attempts, lastAttempt } = delivery
  if (attempts === 0) return 'It is waiting to be sent.'
  const { status, error } = lastAttempt ?? {}
  if (isDelivered) return `Delivered: the receiver responded with ${status}.`
  const reason = status === undefined ? (error ?? '') : `The receiver responded with ${status}.`
  const counted = attempts === 1 ? 'one attempt' : `${attempts} attempts`
  if (nextAtMs === undefined) return `${reason} It failed after ${counted}.`
  const next = nextAtMs <= nowMs ? 'in a moment' : agoOf(nextAtMs, nowMs)
  return `${reason} The next attempt is ${next === 'just now' ? 'in a moment' : next}.`
}

interface ExchangeProps {
  readonly address: string
  readonly delivery: Delivery
}

function Exchange({ address, delivery }: ExchangeProps): JSX.Element {
  const { uuid, payload, lastAttempt } = delivery
  return (
    <>
      <p class="quiet">
        Delivery <code>{uuid}</code>
      </p>
      <form method="post" action={`${address}/redeliver`}>
        <input type="hidden" name="uuid" value={uuid} />
        <button type="submit" aria-label={`Send again: ${uuid}`}>
          Send again
        </button>
      </form>
      {lastAttempt !== undefined && (
        <Part title="Request headers" text={headerLines(lastAttempt.requestHeaders)} />
      )}
      <Part title="Request body" text={payload} />
      {lastAttempt?.status !== undefined && (
        <Part
          title="Response"
          text={`${headerLines(lastAttempt.responseHeaders)}\n\n${lastAttempt.responseBody}`}
        />
      )}
    </>
  )
}

function Part({ title, text }: { readonly title: string; readonly text: string }): JSX.Element {
  const isCut = text.length > SHOWN_CHARACTERS_MAX
  return (
    <>
      <h4>{isCut ? `${title} (beginning)` : title}</h4>
      <pre tabindex={0}>
        <code>
          <Shown text={text.slice(0, SHOWN_CHARACTERS_MAX)} />
        </code>
      </pre>
    </>
  )
}

function headerLines(headers: Readonly<Record<string, string>>): string {
  return Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n')
}
