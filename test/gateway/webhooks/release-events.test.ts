/** Webhook events of releases, commit statuses and forks. */

import t from 'tap'
import { aWebhook, listDeliveredPayloads } from '../../helpers/deliveries.js'
import { startGatewayWithUsers } from '../../helpers/gateway-with-users.js'

t.test('published releases and commit statuses are delivered, and drafts are not', async (t) => {
  const gateway = await startGatewayWithUsers(t)
  const here = (method: string, path: string, body?: unknown) =>
    gateway.as('ada', method, `/repos/ada/work${path}`, body)
  await gateway.as('ada', 'POST', '/user/repos', { name: 'work', auto_init: true })
  await here('POST', '/hooks', {
    type: 'gitea',
    active: true,
    config: { url: 'http://x.example', content_type: 'json' },
    events: ['release', 'status'],
  })
  await here('POST', '/releases', { tag_name: 'v2', draft: true })
  const { id } = (await here('POST', '/releases', { tag_name: 'v1', name: 'One' })).json as {
    id: number
  }
  await here('PATCH', `/releases/${id}`, { body: 'Notes' })
  await here('DELETE', `/releases/${id}`)
  const tip = (await here('GET', '/branches/main')).json as { commit: { id: string } }
  await here('POST', `/statuses/${tip.commit.id}`, { state: 'success', context: 'build' })
  const rows: { event: string; payload: string }[] = await gateway
    .db('webhook_deliveries')
    .orderBy('id')
    .select('event', 'payload')
  t.match(
    rows.map(({ event, payload }) => ({ event, ...JSON.parse(payload) })),
    [
      { event: 'release', action: 'published', release: { tag_name: 'v1', name: 'One' } },
      { event: 'release', action: 'updated', release: { body: 'Notes' } },
      { event: 'release', action: 'deleted', release: { tag_name: 'v1' } },
      { event: 'status', state: 'success', context: 'build', sha: tip.commit.id },
    ],
  )
  t.equal(rows.length, 4, 'the draft is not delivered')
})

t.test('a fork is delivered to the webhooks of its parent, hidden if it is private', async (t) => {
  const { as, db, ada } = await startGatewayWithUsers(t)
  for (const name of ['open', 'closed']) {
    await as('ada', 'POST', '/user/repos', { name, auto_init: true, private: name === 'closed' })
  }
  await as('ada', 'PUT', '/repos/ada/closed/collaborators/bob', { permission: 'read' })
  await aWebhook(db, { ownerId: ada.id }, { events: ['fork'] })
  for (const name of ['open', 'closed']) {
    t.equal((await as('bob', 'POST', `/repos/ada/${name}/forks`, {})).status, 202)
  }
  const sender = { login: 'bob' }
  t.match(await listDeliveredPayloads(db), [
    {
      event: 'fork',
      payload: {
        forkee: { full_name: 'ada/open' },
        repository: { full_name: 'bob/open', fork: true },
        sender,
      },
    },
    { event: 'fork', payload: { forkee: { full_name: 'ada/closed' }, repository: null, sender } },
  ])
})
