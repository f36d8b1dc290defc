/** An event is written down for those who listen, once, and made for nobody else. */

import t, { type Test } from 'tap'
import {
  deliverTo,
  emit,
  hasSubscribers,
  recordEvent,
} from '../../../../gateway/actions/webhooks/events.js'
import { closeDatabase } from '../../../../sql/database/database.js'
import { aWebhook, listDeliveredPayloads } from '../../../helpers/deliveries.js'
import { openContext } from '../../../helpers/gateway.js'
import { aRepository } from '../../../helpers/rows.js'

async function scene(t: Test) {
  const { context, fixture } = await openContext(t)
  const owner = await fixture.addUser('ada')
  const repository = await aRepository(fixture.db, owner.id, 'library')
  return { context, db: fixture.db, fixture, owner, repository }
}

t.test('webhooks of the repository and of its owner hear what they asked for', async (t) => {
  const { context, db, owner, repository } = await scene(t)
  const first = await aWebhook(db, { repositoryId: repository.id }, { events: ['push'] })
  const second = await aWebhook(db, { ownerId: owner.id }, { events: ['push', 'issues'] })
  await aWebhook(db, { ownerId: owner.id }, { events: ['release'] })
  await emit(context, { event: 'push', repository, payload: () => ({ a: { b: 1 } }) })
  await emit(context, {
    event: 'repository',
    owner,
    payload: () => t.fail('nobody listens') as never,
  })
  await emit(context, { event: 'issues', owner, payload: () => undefined })
  const told = await listDeliveredPayloads(db)
  t.strictSame(
    told.map(({ webhookId }) => webhookId),
    [first.id, second.id],
  )
  t.not(told[0]?.uuid, told[1]?.uuid)
  const [row] = await db('webhook_deliveries').select('payload')
  t.equal(row.payload, '{\n  "a": {\n    "b": 1\n  }\n}', 'as it is read by people')
  t.ok(await hasSubscribers(context, repository, ['create', 'push']))
  t.notOk(await hasSubscribers(context, repository, ['create']))
})

t.test('told again under the same key, it is the same delivery', async (t) => {
  const { context, db, repository } = await scene(t)
  const webhook = await aWebhook(db, { repositoryId: repository.id })
  const event = { event: 'push', repository, payload: () => ({}) } as const
  await Promise.all([1, 2].map(() => recordEvent(context, { ...event, key: 'k' })))
  await recordEvent(context, { ...event, key: 'other' })
  await recordEvent(context, event)
  t.equal((await listDeliveredPayloads(db)).length, 3)
  for (const { uuid } of await listDeliveredPayloads(db))
    t.match(uuid, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
  await deliverTo(context, [webhook], { event: 'wiki', payload: '{}', key: 'k' })
  t.equal((await listDeliveredPayloads(db)).length, 3, 'a key is one of an event')
})

t.test('a filter of branches holds for what is about a branch', async (t) => {
  const { context, db, repository } = await scene(t)
  const branchFilter = '{main,refs/heads/release/*}'
  await aWebhook(db, { repositoryId: repository.id }, { branchFilter })
  const tell = async (branch: string | undefined) => {
    const before = (await listDeliveredPayloads(db)).length
    await emit(context, { event: 'push', repository, branch, payload: () => ({}) })
    return (await listDeliveredPayloads(db)).length > before
  }
  for (const branch of ['main', 'release/1', undefined]) t.ok(await tell(branch), String(branch))
  for (const branch of ['mains', 'feature/main']) t.notOk(await tell(branch), branch)
})

t.test('what cannot be told is logged, and nothing fails by it', async (t) => {
  const { context, db, fixture, repository } = await scene(t)
  await aWebhook(db, { repositoryId: repository.id })
  const payload = () => Promise.reject(new Error('it is broken'))
  await emit(context, { event: 'push', repository, payload })
  t.match(fixture.lines.at(-1), { event: 'push', error: { message: 'it is broken' } })
  await t.rejects(recordEvent(context, { event: 'push', repository, payload }), /it is broken/)
  await closeDatabase(db)
  await emit(context, { event: 'push', repository, payload: () => ({}) })
  t.match(fixture.lines.at(-1), { level: 40, msg: 'webhooks were not told of an event' })
})
