/** Pending deliveries of a webhook are sent oldest first and retried after failures. */

import t, { type Test } from 'tap'
import { DELIVER_WEBHOOK } from '../../../gateway/jobs/deliver-webhook.js'
import { selectRows } from '../../../sql/database/dialect.js'
import { addDeliveries, listDeliveries } from '../../../sql/webhooks/webhook-deliveries.js'
import { aWebhook } from '../../helpers/deliveries.js'
import { openContext } from '../../helpers/gateway.js'
import { type ReceiverOptions, startReceiver } from '../../helpers/receiver.js'

const ALLOWED = {
  GATEHOUSE_OUTBOUND_ALLOW: '127.0.0.1',
  GATEHOUSE_WEBHOOKS_TIMEOUT: '300ms',
  GATEHOUSE_WEBHOOKS_RETRY_AFTER: '0s,1h',
}

async function scene(
  t: Test,
  environment: Readonly<Record<string, string>>,
  tls?: ReceiverOptions,
) {
  const { context, fixture } = await openContext(t, { environment })
  const receiver = await startReceiver(t, tls)
  const ada = await fixture.addUser('ada')
  const { id } = await aWebhook(fixture.db, { ownerId: ada.id }, { url: receiver.url })
  const add = (...digits: readonly string[]) =>
    addDeliveries(
      fixture.db,
      digits.map((digit) => ({
        webhookId: id,
        event: 'push',
        payload: `"${digit}"`,
        uuid: `${digit.repeat(8)}-0000-8000-a000-000000000000`,
      })),
    )
  return {
    fixture,
    receiver,
    id,
    add,
    run: (signal = new AbortController().signal) =>
      DELIVER_WEBHOOK.run(context, String(id), signal),
    list: async () => [...(await listDeliveries(fixture.db, id, 10))].reverse(),
  }
}

t.test('due deliveries are sent in order, and the results are stored', async (t) => {
  const { receiver, add, run, list } = await scene(t, ALLOWED, {
    answer: (response) => response.writeHead(200, { 'X-Answer': 'yes' }).end('taken'),
  })
  await add('1', '2')
  await run()
  t.strictSame(
    receiver.received.map(({ body }) => body.toString()),
    ['"1"', '"2"'],
  )
  t.match(await list(), [
    {
      isDelivered: true,
      attempts: 1,
      nextAtMs: undefined,
      lastAttempt: {
        requestHeaders: { 'X-Gitea-Event': 'push' },
        status: 200,
        responseHeaders: { 'x-answer': 'yes' },
        responseBody: 'taken',
        error: '',
      },
    },
    { isDelivered: true },
  ])
})

t.test('a failed delivery is retried after its pauses and then given up', async (t) => {
  const { fixture, receiver, add, run, list, id } = await scene(t, ALLOWED, {
    answer: (response) => response.writeHead(302, { Location: '/elsewhere' }).end(),
  })
  await add('1')
  await run()
  t.equal(receiver.received.length, 2, 'immediately, because the first pause is zero')
  const [waiting] = await list()
  t.match(waiting, { isDelivered: false, attempts: 2, lastAttempt: { status: 302 } })
  t.ok(Math.abs((waiting?.nextAtMs ?? 0) - Date.now() - 3_600_000) < 60_000)
  const [job] = await selectRows<{ subject: string }>(fixture.db, 'select subject from jobs')
  t.equal(job?.subject, String(id), 'the job is queued again')
  await fixture.db('webhook_deliveries').update({ next_at: 0 })
  await run()
  t.match(await list(), [{ isDelivered: false, attempts: 3, nextAtMs: undefined }])
  t.ok(fixture.lines.some((line) => line['isGivenUp'] === true))
})

t.test('a private receiver is not called, and a slow one times out', async (t) => {
  const inside = await scene(t, { ...ALLOWED, GATEHOUSE_OUTBOUND_ALLOW: '' })
  await inside.add('1')
  await inside.run()
  t.equal(inside.receiver.connections(), 0)
  t.match(await inside.list(), [
    { lastAttempt: { status: undefined, error: /has an address that is not allowed/ } },
  ])
  const slow = await scene(t, ALLOWED, { answer: () => {} })
  await slow.add('1')
  await slow.run()
  t.match(await slow.list(), [{ attempts: 2, lastAttempt: { error: /no answer within 300 ms/ } }])
})

t.test('an aborted delivery counts no attempt, and a deleted webhook has none', async (t) => {
  const stopping = new AbortController()
  const { add, run, list, fixture } = await scene(t, ALLOWED, { answer: () => stopping.abort() })
  await add('1')
  await run(stopping.signal)
  t.match(await list(), [{ attempts: 0, isDelivered: false }])
  await fixture.db('webhooks').delete()
  await run()
  t.strictSame(await list(), [])
})
