/** Settings of the instance that clients read before they act. */

import t from 'tap'
import { setRegistration } from '../../../../sql/admin/site.js'
import { isExpected } from '../../../helpers/expected.js'
import { BASE_URL } from '../../../helpers/gateway.js'
import { startGatewayWithUsers } from '../../../helpers/gateway-with-users.js'

t.test('anonymous clients read which features are enabled', async (t) => {
  const { as } = await startGatewayWithUsers(t)
  for (const name of ['api', 'repository', 'attachment', 'ui']) {
    const { status, json } = await as('anyone', 'GET', `/settings/${name}`)
    t.equal(status, 200)
    isExpected(t, json, `api/settings-${name}`)
  }
  t.equal((await as('anyone', 'GET', '/signing-key.gpg')).status, 404, 'nothing is signed')
})

t.test('nodeinfo counts users without hidden profiles, and a link leads to it', async (t) => {
  const { as, ask, db, ada } = await startGatewayWithUsers(t)
  const links = JSON.parse((await ask({ path: '/.well-known/nodeinfo' })).text)
  const rel = 'http://nodeinfo.diaspora.software/ns/schema/2.1'
  t.strictSame(links, { links: [{ href: `${BASE_URL}/api/v1/nodeinfo`, rel }] })
  t.match((await as('anyone', 'GET', '/nodeinfo')).json, { openRegistrations: false })
  await setRegistration(db, true)
  t.match((await as('anyone', 'GET', '/nodeinfo')).json, { openRegistrations: true })
  const total = { status: 200, json: { version: '2.1', usage: { users: { total: 3 } } } }
  t.match(await as('anyone', 'GET', '/nodeinfo'), total)
  await db('owners').where({ id: ada.id }).update({ visibility: 'private' })
  t.match((await as('ada', 'GET', '/nodeinfo')).json, { usage: { users: { total: 2 } } })
})
