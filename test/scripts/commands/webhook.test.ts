/** `gatehouse webhook`: deliveries are listed and sent again. */

import t from 'tap'
import { withDatabase } from '../../../scripts/commands/command.js'
import { WEBHOOK_COMMANDS } from '../../../scripts/commands/webhook.js'
import {
  addDeliveries,
  nextDueDelivery,
  recordAttempt,
} from '../../../sql/webhooks/webhook-deliveries.js'
import { runCommand, useDataFolder } from '../../helpers/command.js'
import { aWebhook } from '../../helpers/deliveries.js'
import { aUser } from '../../helpers/rows.js'

const UUID = '11111111-0000-8000-a000-000000000000'

t.test('a failed delivery is listed and queued again', async (t) => {
  await useDataFolder(t)
  const command = (...args: readonly string[]) =>
    runCommand(t, WEBHOOK_COMMANDS, 'webhook', ...args)
  const id = await withDatabase(async (db) => {
    const { id: ownerId } = await aUser(db, 'ada')
    const { id: webhookId } = await aWebhook(db, { ownerId })
    await addDeliveries(db, [{ webhookId, uuid: UUID, event: 'push', payload: '{}' }])
    const due = await nextDueDelivery(db, webhookId)
    const attempt = {
      atMs: 1,
      requestHeaders: {},
      status: 500,
      responseHeaders: {},
      responseBody: '',
      error: '',
    }
    const outcome = { isDelivered: false, nextAtMs: undefined }
    if (due !== undefined) await recordAttempt(db, due, attempt, outcome)
    return String(webhookId)
  })
  t.match(await command('deliveries', id), [/^1{8}-\S+\tpush\t\S+Z\tgiven up\t1 attempts\t500$/])
  await command('redeliver', UUID)
  t.match(await command('deliveries', id), [/\twaiting\t0 attempts\t500$/])
  await t.rejects(command('deliveries', '999'), { message: 'there is no webhook 999' })
  await t.rejects(command('deliveries', 'x'), { message: "ID 'x' is not the number of a webhook" })
  const other = UUID.replaceAll('1', '2')
  await t.rejects(command('redeliver', other), { message: `there is no delivery ${other}` })
})
