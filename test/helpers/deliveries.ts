/** Webhooks for tests, and the deliveries queued for them. */

import { HOOK_EVENTS } from '../../conf/hook-events.js'
import type { Database } from '../../sql/database/database.js'
import { selectRows } from '../../sql/database/dialect.js'
import {
  createWebhook,
  type HookPlace,
  type Webhook,
  type WebhookFields,
} from '../../sql/webhooks/webhooks.js'

/** Creates an active webhook for all events. */
export function aWebhook(
  db: Database,
  place: HookPlace,
  fields: Partial<WebhookFields> = {},
): Promise<Webhook> {
  return createWebhook(db, place, {
    type: 'gitea',
    serviceSettings: {},
    url: 'http://hooks.example.org/',
    contentType: 'json',
    secretSealed: undefined,
    authorizationSealed: undefined,
    events: HOOK_EVENTS,
    branchFilter: '',
    isActive: true,
    ...fields,
  })
}

export interface EventInput {
  readonly webhookId: number
  readonly event: string
  readonly uuid: string
  readonly payload: Readonly<Record<string, unknown>>
}

/** Lists all deliveries, done and pending, in order. */
export async function listDeliveredPayloads(db: Database): Promise<readonly EventInput[]> {
  const rows = await selectRows<{
    webhook_id: number
    event: string
    uuid: string
    payload: string
  }>(db, 'select webhook_id, event, uuid, payload from webhook_deliveries order by id')
  return rows.map(({ webhook_id: webhookId, event, uuid, payload }) => {
    return { webhookId, event, uuid, payload: JSON.parse(payload) }
  })
}
