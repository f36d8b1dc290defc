/** Settings of the instance that clients read before they act. */

import t from 'tap'
import { isExpected } from '../../../helpers/expected.js'
import { startGatewayWithUsers } from '../../../helpers/gateway-with-users.js'

t.test('anonymous clients read which features are enabled', async (t) => {
  const { as } = await startGatewayWithUsers(t)
  for (const name of ['api', 'repository', 'attachment', 'ui']) {
    const { status, json } = await as('anyone', 'GET', `/settings/${name}`)
    t.equal(status, 200)
    isExpected(t, json, `api/settings-${name}`)
  }
  t.match(await as('anyone', 'GET', '/signing-key.gpg'), {
    status: 200,
    text: '',
    headers: { 'content-type': 'text/plain' },
  })
})

t.test('users with hidden profiles are left out of the count', async (t) => {
  const { as, db, ada } = await startGatewayWithUsers(t)
  const total = { status: 200, json: { version: '2.1', usage: { users: { total: 3 } } } }
  t.match(await as('anyone', 'GET', '/nodeinfo'), total)
  await db('owners').where({ id: ada.id }).update({ visibility: 'private' })
  t.match((await as('ada', 'GET', '/nodeinfo')).json, { usage: { users: { total: 2 } } })
})
