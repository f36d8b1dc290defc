/** Webhook events of published and deleted package versions. */

import t from 'tap'
import { aWebhook, listDeliveredPayloads } from '../../helpers/deliveries.js'
import { type GatewayWithUsers, startGatewayWithUsers } from '../../helpers/gateway-with-users.js'
import { withToken } from '../../helpers/requests.js'

function upload({ ask, authorizationOf }: GatewayWithUsers, path: string) {
  const authorization = authorizationOf('ada')
  const address = `/api/packages/ada/generic/${path}`
  return ask({ method: 'PUT', path: address, body: Buffer.from('data'), authorization })
}

function remove({ ask, authorizationOf }: GatewayWithUsers, path: string) {
  const authorization = authorizationOf('ada')
  return ask({ method: 'DELETE', path: `/api/packages/ada/generic/${path}`, authorization })
}

t.test(
  'webhooks of the owner and the linked repository receive published and deleted versions',
  async (t) => {
    const gateway = await startGatewayWithUsers(t)
    const { db, ada, as } = gateway
    const { id: hookId } = await aWebhook(db, { ownerId: ada.id }, { events: ['package'] })
    t.equal((await upload(gateway, 'tool/1/a')).status, 201)
    t.match(await listDeliveredPayloads(db), [
      {
        event: 'package',
        payload: {
          action: 'created',
          package: { name: 'tool', version: '1', type: 'generic' },
          repository: null,
          organization: null,
          sender: { login: 'ada' },
        },
      },
    ])
    await upload(gateway, 'tool/1/b')
    t.equal((await upload(gateway, 'tool/1/b')).status, 409)
    t.equal((await listDeliveredPayloads(db)).length, 1, 'a second file is not a new version')
    const repository = await as('ada', 'POST', '/user/repos', { name: 'r' })
    const { id: repositoryId } = repository.json as { id: number }
    const ofRepository = await aWebhook(db, { repositoryId }, { events: ['package'] })
    await as('ada', 'POST', '/packages/ada/generic/tool/-/link/r')
    await upload(gateway, 'tool/2/a')
    t.match((await listDeliveredPayloads(db)).slice(1), [
      { webhookId: hookId, payload: { repository: { full_name: 'ada/r' } } },
      { webhookId: ofRepository.id },
    ])
    await as('ada', 'PATCH', '/repos/ada/r', { private: true })
    const { plain } = await gateway.addToken(ada, 'write:package')
    const authorization = withToken(plain)
    await upload({ ...gateway, authorizationOf: () => authorization }, 'tool/2.1/a')
    t.match(
      (await listDeliveredPayloads(db)).slice(3),
      [
        { webhookId: hookId, payload: { package: { repository: { full_name: 'ada/r' } } } },
        { webhookId: ofRepository.id },
      ],
      'with the private repository, also for a token without its scope',
    )
    await remove(gateway, 'tool/1/a')
    t.equal(
      (await listDeliveredPayloads(db)).length,
      5,
      'a version with another file is not deleted',
    )
    await remove(gateway, 'tool/1/b')
    t.match((await listDeliveredPayloads(db)).slice(5), [
      { payload: { action: 'deleted', package: { version: '1' } } },
      { webhookId: ofRepository.id },
    ])
    await upload(gateway, 'tool/3/a')
    t.equal((await as('ada', 'DELETE', '/packages/ada/generic/tool/3')).status, 204)
    t.equal((await as('ada', 'DELETE', '/packages/ada/generic/tool/3')).status, 404)
    t.equal((await as('ada', 'DELETE', '/packages/ada/generic/tool')).status, 204)
    const actions = (await listDeliveredPayloads(db))
      .filter(({ webhookId }) => webhookId === hookId)
      .map(
        ({ payload }) =>
          `${payload['action']} ${(payload['package'] as { version: string }).version}`,
      )
    t.strictSame(actions, [
      'created 1',
      'created 2',
      'created 2.1',
      'deleted 1',
      'created 3',
      'deleted 3',
      'deleted 2.1',
      'deleted 2',
    ])
  },
)

t.test('packages are published and deleted without a subscribed webhook', async (t) => {
  const gateway = await startGatewayWithUsers(t)
  t.equal((await upload(gateway, 'tool/1/a')).status, 201)
  t.equal((await remove(gateway, 'tool/1')).status, 204)
  t.strictSame(await listDeliveredPayloads(gateway.db), [])
})
