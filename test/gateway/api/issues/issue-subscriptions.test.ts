/** Subscriptions to issues over the API. */

import t from 'tap'
import { forEachDatabase } from '../../../helpers/databases.js'
import { BASE_URL } from '../../../helpers/gateway.js'
import { startGatewayWithUsers } from '../../../helpers/gateway-with-users.js'

await forEachDatabase(t, 'users subscribe to and unsubscribe from issues', async (t, location) => {
  const { as } = await startGatewayWithUsers(t, { location })
  await as('ada', 'POST', '/user/repos', { name: 'r' })
  await as('ada', 'POST', '/repos/ada/r/issues', { title: 'one' })
  const path = '/repos/ada/r/issues/1/subscriptions'
  const says = async (name: 'ada' | 'bob', method: 'PUT' | 'DELETE') =>
    (await as(name, method, `${path}/${name}`)).status
  const hears = async (name: 'ada' | 'bob') => {
    const { json } = await as(name, 'GET', `${path}/check`)
    return (json as { subscribed: boolean }).subscribed
  }
  t.equal((await as('anyone', 'PUT', `${path}/bob`)).status, 401)
  t.equal((await as('bob', 'PUT', `${path}/ada`)).status, 403)
  t.equal((await as('bob', 'PUT', `${path}/absent`)).status, 404)
  t.equal((await as('bob', 'PUT', '/repos/ada/r/issues/9/subscriptions/bob')).status, 404)
  t.strictSame([await hears('ada'), await hears('bob')], [true, false])
  t.match((await as('bob', 'GET', `${path}/check`)).json, {
    subscribed: false,
    ignored: true,
    reason: null,
    url: `${BASE_URL}/api/v1${path}`,
    repository_url: `${BASE_URL}/api/v1/repos/ada/r`,
  })
  t.strictSame(
    [await says('bob', 'DELETE'), await says('ada', 'PUT')],
    [200, 200],
    'already in that state',
  )
  t.strictSame([await says('bob', 'PUT'), await says('bob', 'PUT')], [201, 200])
  t.equal(await hears('bob'), true)
  const list = await as('anyone', 'GET', path)
  t.match(list, { headers: { 'x-total-count': '1' }, json: [{ login: 'bob' }] })
  t.strictSame([await says('ada', 'DELETE'), await says('bob', 'DELETE')], [201, 201])
  t.strictSame([await hears('ada'), await hears('bob')], [false, false])
  t.strictSame((await as('anyone', 'GET', path)).json, [])
  t.equal((await as('root', 'PUT', `${path}/bob`)).status, 201)
})
