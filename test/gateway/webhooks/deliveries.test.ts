/** Deliveries: stored once for each subscribed webhook; payloads are rendered only for these. */

import t, { type Test } from 'tap'
import {
  deliverTo,
  enqueueDeliveries,
  hasSubscribers,
} from '../../../gateway/webhooks/deliveries.js'
import { aWebhook, listDeliveredPayloads } from '../../helpers/deliveries.js'
import { openContext } from '../../helpers/gateway.js'
import { aRepository } from '../../helpers/rows.js'

async function scene(t: Test) {
  const { context, fixture } = await openContext(t)
  const owner = await fixture.addUser('ada')
  const repository = await aRepository(fixture.db, owner.id, 'library')
  return { context, db: fixture.db, fixture, owner, repository }
}

t.test(
  'webhooks of a repository and of its owner receive the events to which they subscribe',
  async (t) => {
    const { context, db, owner, repository } = await scene(t)
    const first = await aWebhook(db, { repositoryId: repository.id }, { events: ['push'] })
    const second = await aWebhook(db, { ownerId: owner.id }, { events: ['push', 'issues'] })
    await aWebhook(db, { ownerId: owner.id }, { events: ['release'] })
    await enqueueDeliveries(context, {
      event: 'push',
      repository,
      payload: () => ({ a: { b: 1 } }),
    })
    await enqueueDeliveries(context, {
      event: 'repository',
      owner,
      payload: () => t.fail('the payload is not rendered') as never,
    })
    await enqueueDeliveries(context, { event: 'issues', owner, payload: () => undefined })
    const deliveries = await listDeliveredPayloads(db)
    t.strictSame(
      deliveries.map(({ webhookId }) => webhookId),
      [first.id, second.id],
    )
    t.not(deliveries[0]?.uuid, deliveries[1]?.uuid)
    const [row] = await db('webhook_deliveries').select('payload')
    t.equal(row.payload, '{\n  "a": {\n    "b": 1\n  }\n}', 'the stored payload is indented')
    t.ok(await hasSubscribers(context, repository, ['create', 'push']))
    t.notOk(await hasSubscribers(context, repository, ['create']))
  },
)

t.test('an event that is enqueued twice under one key is delivered once', async (t) => {
  const { context, db, repository } = await scene(t)
  const webhook = await aWebhook(db, { repositoryId: repository.id })
  const event = { event: 'push', repository, payload: () => ({}) } as const
  await Promise.all([1, 2].map(() => enqueueDeliveries(context, { ...event, key: 'k' })))
  await enqueueDeliveries(context, { ...event, key: 'other' })
  await enqueueDeliveries(context, event)
  t.equal((await listDeliveredPayloads(db)).length, 3)
  for (const { uuid } of await listDeliveredPayloads(db))
    t.match(uuid, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
  await deliverTo(context, [webhook], { event: 'fork', payload: {}, key: 'k' })
  t.equal(
    (await listDeliveredPayloads(db)).length,
    3,
    'the key of a delivery includes its webhook, not its event',
  )
})

t.test('a branch filter applies to events with a branch', async (t) => {
  const { context, db, repository } = await scene(t)
  const branchFilter = '{main,refs/heads/release/*}'
  await aWebhook(db, { repositoryId: repository.id }, { branchFilter })
  const isDelivered = async (branch: string | undefined) => {
    const before = (await listDeliveredPayloads(db)).length
    await enqueueDeliveries(context, { event: 'push', repository, branch, payload: () => ({}) })
    return (await listDeliveredPayloads(db)).length > before
  }
  for (const branch of ['main', 'release/1', undefined])
    t.ok(await isDelivered(branch), String(branch))
  for (const branch of ['mains', 'feature/main']) t.notOk(await isDelivered(branch), branch)
})

t.test('an event whose payload cannot be rendered is rejected and not stored', async (t) => {
  const { context, db, repository } = await scene(t)
  await aWebhook(db, { repositoryId: repository.id })
  const payload = () => Promise.reject(new Error('it is broken'))
  await t.rejects(
    enqueueDeliveries(context, { event: 'push', repository, payload }),
    /it is broken/,
  )
  t.strictSame(await listDeliveredPayloads(db), [])
})
