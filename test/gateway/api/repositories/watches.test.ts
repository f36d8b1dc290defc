/** Watches of repositories over the API. */

import t from 'tap'
import { forEachDatabase } from '../../../helpers/databases.js'
import { BASE_URL } from '../../../helpers/gateway.js'
import { startGatewayWithUsers } from '../../../helpers/gateway-with-users.js'

await forEachDatabase(
  t,
  'users watch repositories that they may see, and watches are counted',
  async (t, location) => {
    const { as } = await startGatewayWithUsers(t, { location })
    await as('ada', 'POST', '/user/repos', { name: 'r' })
    await as('ada', 'POST', '/user/repos', { name: 'shut', private: true })
    const watch = '/repos/ada/r/subscription'
    t.equal((await as('anyone', 'PUT', watch)).status, 401)
    t.equal((await as('bob', 'GET', watch)).status, 404)
    t.equal((await as('bob', 'PUT', '/repos/ada/shut/subscription')).status, 404)
    const url = `${BASE_URL}/api/v1/repos/ada/r`
    const info = {
      subscribed: true,
      ignored: false,
      reason: null,
      created_at: String,
      url: `${url}/subscription`,
      repository_url: url,
    }
    for (let round = 0; round < 2; round += 1) {
      t.match(await as('bob', 'PUT', watch), { status: 200, json: info })
    }
    t.match(await as('bob', 'GET', watch), { status: 200, json: info })
    t.match((await as('anyone', 'GET', '/repos/ada/r')).json, { watchers_count: 2 })
    const people = await as('anyone', 'GET', '/repos/ada/r/subscribers?limit=1&page=2')
    t.match(people, { headers: { 'x-total-count': '2' }, json: [{ login: 'bob' }] })
    t.match((await as('bob', 'GET', '/user/subscriptions')).json, [{ name: 'r' }])
    const ofAda = await as('bob', 'GET', '/users/ada/subscriptions')
    t.match(ofAda, { headers: { 'x-total-count': '1' }, json: [{ name: 'r' }] })
    for (let round = 0; round < 2; round += 1) {
      t.equal((await as('bob', 'DELETE', watch)).status, 204)
    }
    t.equal((await as('bob', 'GET', watch)).status, 404)
    t.strictSame((await as('bob', 'GET', '/user/subscriptions')).json, [])
  },
)

await forEachDatabase(t, 'the creator of a repository watches it', async (t, location) => {
  const { as, addOrganization, ada } = await startGatewayWithUsers(t, { location })
  await addOrganization('club', ada)
  await as('ada', 'POST', '/user/repos', { name: 'r', auto_init: true })
  const watchers = async (path: string) => {
    const { json } = await as('root', 'GET', `/repos/${path}/subscribers`)
    return (json as { login: string }[]).map(({ login }) => login)
  }
  t.strictSame(await watchers('ada/r'), ['ada'])
  await as('ada', 'POST', '/orgs/club/repos', { name: 'ours' })
  t.strictSame(await watchers('club/ours'), ['ada'], 'the user who created it for an organization')
  await as('bob', 'POST', '/repos/ada/r/forks', {})
  t.strictSame(await watchers('bob/r'), ['bob'])
  await as('root', 'POST', '/repos/ada/r/transfer', { new_owner: 'root' })
  t.strictSame(await watchers('root/r'), ['ada', 'root'])
  await as('root', 'POST', '/repos/root/r/transfer', { new_owner: 'club' })
  t.strictSame(await watchers('club/r'), ['ada', 'root'])
})
