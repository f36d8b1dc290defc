/** Old webhook deliveries are deleted. */

import t from 'tap'
import { SWEEP_DELIVERIES } from '../../../gateway/jobs/sweep-deliveries.js'
import { addDeliveries, listDeliveries } from '../../../sql/webhooks/webhook-deliveries.js'
import { aWebhook } from '../../helpers/deliveries.js'
import { openContext } from '../../helpers/gateway.js'

t.test('deliveries older than the setting are deleted', async (t) => {
  const { context, fixture } = await openContext(t, {
    environment: { GATEHOUSE_WEBHOOKS_KEPT: '1h' },
  })
  const ada = await fixture.addUser('ada')
  const { id: webhookId } = await aWebhook(fixture.db, { ownerId: ada.id })
  const uuids = ['1', '2'].map((digit) => `${digit.repeat(8)}-0000-8000-a000-000000000000`)
  await addDeliveries(
    fixture.db,
    uuids.map((uuid) => ({ webhookId, uuid, event: 'push', payload: '{}' })),
  )
  await fixture.db('webhook_deliveries').update({ next_at: null })
  const old = { created_at: Date.now() - 7_200_000 }
  await fixture.db('webhook_deliveries').where({ uuid: uuids[0] }).update(old)
  await SWEEP_DELIVERIES.run(context, 'all', new AbortController().signal)
  const left = await listDeliveries(fixture.db, webhookId, 10)
  t.strictSame(
    left.map(({ uuid }) => uuid),
    [uuids[1]],
  )
})
