/** Webhook deliveries: stored once, sent in order, and kept with their result. */

import { t } from 'tap'
import { selectRows } from '../../../sql/database/dialect.js'
import {
  addDeliveries,
  enqueueDelivery,
  listDeliveries,
  nextDeliveryTime,
  nextDueDelivery,
  recordAttempt,
  redeliver,
  removeOldDeliveries,
} from '../../../sql/webhooks/webhook-deliveries.js'
import { forEachMigrated } from '../../helpers/databases.js'
import { aWebhook } from '../../helpers/deliveries.js'
import { aUser } from '../../helpers/rows.js'

const ATTEMPT = {
  atMs: 5,
  requestHeaders: { a: 'b' },
  status: 500,
  responseHeaders: { c: 'd' },
  responseBody: 'no 𝒳',
  error: '',
}

function aDelivery(webhookId: number, digit: string) {
  const uuid = `${digit.repeat(8)}-0000-8000-a000-000000000000`
  return { webhookId, uuid, event: 'push', payload: '{"a": "𝒳"}' } as const
}

await forEachMigrated(
  t,
  'an event that is added twice is delivered once, in order',
  async (t, db) => {
    const { id: ownerId } = await aUser(db, 'ada')
    const { id } = await aWebhook(db, { ownerId })
    await addDeliveries(db, [aDelivery(id, '1'), aDelivery(id, '2')])
    await Promise.all([1, 2].map(() => addDeliveries(db, [aDelivery(id, '1'), aDelivery(id, '3')])))
    t.equal((await listDeliveries(db, id, 10)).length, 3)
    t.equal((await listDeliveries(db, id, 2)).length, 2)
    const jobs = await selectRows(db, 'select kind, subject from jobs')
    t.strictSame(
      jobs.map((row) => ({ ...(row as object) })),
      [{ kind: 'deliver-webhook', subject: String(id) }],
    )
    const due = await nextDueDelivery(db, id)
    t.match(due, { ...aDelivery(id, '1'), attempts: 0, lastAttempt: undefined })
  },
)

await forEachMigrated(t, 'an attempt is stored, and the next one is scheduled', async (t, db) => {
  const { id: ownerId } = await aUser(db, 'ada')
  const { id } = await aWebhook(db, { ownerId })
  await addDeliveries(db, [aDelivery(id, '1')])
  const due = await nextDueDelivery(db, id)
  if (due === undefined) throw new Error('nothing is due')
  const nextAtMs = Date.now() + 60_000
  await recordAttempt(db, due, ATTEMPT, { isDelivered: false, nextAtMs })
  t.equal(await nextDueDelivery(db, id), undefined, 'the delivery is not due')
  t.equal(await nextDeliveryTime(db, id), nextAtMs)
  const [waiting] = await listDeliveries(db, id, 1)
  t.match(waiting, { attempts: 1, isDelivered: false, nextAtMs, lastAttempt: ATTEMPT })
  t.equal(await removeOldDeliveries(db, Date.now() + 1_000), 0, 'it is still pending')
  const { uuid } = due
  t.notOk(await redeliver(db, { uuid: aDelivery(id, '9').uuid }))
  t.notOk(await redeliver(db, { uuid, webhookId: id + 1 }), 'it belongs to another webhook')
  t.equal(await nextDueDelivery(db, id), undefined)
  t.ok(await redeliver(db, { uuid, webhookId: id }))
  const again = await nextDueDelivery(db, id)
  t.match(again, { attempts: 0, uuid: due.uuid })
  await recordAttempt(db, due, ATTEMPT, { isDelivered: true, nextAtMs: undefined })
  t.equal(await nextDeliveryTime(db, id), undefined)
  t.equal(await removeOldDeliveries(db, Date.now() - 60_000), 0, 'it is not old enough')
  t.equal(await removeOldDeliveries(db, Date.now() + 1_000), 1)
})

await forEachMigrated(
  t,
  'a delivery requested for an earlier time is moved forward',
  async (t, db) => {
    const times = async () => {
      const rows = await selectRows<{ run_after: number }>(db, 'select run_after from jobs')
      return rows.map(({ run_after }) => Math.round((run_after - Date.now()) / 1_000))
    }
    await enqueueDelivery(db, 7, 100_000)
    t.strictSame(await times(), [100])
    await enqueueDelivery(db, 7, 200_000)
    t.strictSame(await times(), [100])
    await enqueueDelivery(db, 7, 50_000)
    t.strictSame(await times(), [50])
  },
)
