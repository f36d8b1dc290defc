/** `gatehouse webhook …`: deliveries of webhooks, listed and sent again. */

import { type Delivery, listDeliveries, redeliver } from '../../sql/webhooks/webhook-deliveries.js'
import { findWebhookById } from '../../sql/webhooks/webhooks.js'
import {
  type Command,
  type CommandCall,
  CommandError,
  UsageError,
  withDatabase,
} from './command.js'

const DELIVERIES_SHOWN = 50

const deliveries: Command = {
  words: ['webhook', 'deliveries'],
  usage: 'ID',
  about: `Lists the last ${DELIVERIES_SHOWN} deliveries of a webhook, by its id in the API.`,
  positionals: ['ID'],
  options: {},
  async run(call) {
    const id = parseId(call)
    await withDatabase(async (db) => {
      if ((await findWebhookById(db, id)) === undefined) {
        throw new CommandError(`there is no webhook ${id}`)
      }
      for (const delivery of await listDeliveries(db, id, DELIVERIES_SHOWN)) {
        console.log(lineOf(delivery))
      }
    })
  },
}

const again: Command = {
  words: ['webhook', 'redeliver'],
  usage: 'UUID',
  about: 'Sends a delivery again with the same UUID, even if it succeeded.',
  positionals: ['UUID'],
  options: {},
  async run({ positionals }) {
    const uuid = (positionals[0] ?? '').toLowerCase()
    await withDatabase(async (db) => {
      if (!(await redeliver(db, { uuid }))) throw new CommandError(`there is no delivery ${uuid}`)
      console.log(`${uuid} is queued and is sent when a gateway runs`)
    })
  },
}

function parseId({ positionals }: CommandCall): number {
  const text = positionals[0] ?? ''
  if (!/^\d{1,15}$/.test(text)) throw new UsageError(`ID '${text}' is not the number of a webhook`)
  return Number(text)
}

function lineOf(delivery: Delivery): string {
  const { uuid, event, attempts, createdAtMs, isDelivered, nextAtMs, lastAttempt } = delivery
  const state = isDelivered ? 'delivered' : nextAtMs === undefined ? 'given up' : 'waiting'
  const outcome = lastAttempt === undefined ? '' : String(lastAttempt.status ?? lastAttempt.error)
  const created = new Date(createdAtMs).toISOString()
  return [uuid, event, created, state, `${attempts} attempts`, outcome].join('\t')
}

export const WEBHOOK_COMMANDS: readonly Command[] = [deliveries, again]
