/** Organizations and repositories that an administrator creates for others. */

import t from 'tap'
import { forEachDatabase } from '../../../helpers/databases.js'
import { startGatewayWithUsers } from '../../../helpers/gateway-with-users.js'

await forEachDatabase(
  t,
  'objects that an administrator creates for a user belong to that user',
  async (t, location) => {
    const { as } = await startGatewayWithUsers(t, { location })
    const body = { username: 'club', visibility: 'private' }
    t.equal((await as('root', 'POST', '/admin/users/ada/orgs', body)).status, 201)
    t.match((await as('ada', 'GET', '/user/orgs')).json, [{ name: 'club' }])
    t.strictSame((await as('root', 'GET', '/user/orgs')).json, [])
    t.match(await as('root', 'GET', '/admin/orgs'), {
      headers: { 'x-total-count': '1' },
      json: [{ name: 'club', visibility: 'private' }],
    })
    for (const owner of ['ada', 'club']) {
      const made = await as('root', 'POST', `/admin/users/${owner}/repos`, { name: 'r' })
      t.match(made, { status: 201, json: { full_name: `${owner}/r` } })
    }
    t.match((await as('ada', 'GET', '/user/repos')).json, [{ name: 'r' }, { name: 'r' }])
    t.equal((await as('root', 'POST', '/admin/users/ada/repos', { name: 'R' })).status, 409)
    t.equal((await as('root', 'POST', '/admin/users/absent/repos', { name: 'r' })).status, 404)
    t.equal((await as('root', 'POST', '/admin/users/club/orgs', { username: 'x' })).status, 404)
    t.equal((await as('root', 'POST', '/admin/users/ada/orgs', { username: 'club' })).status, 422)
    t.equal((await as('ada', 'POST', '/admin/users/ada/repos', { name: 'x' })).status, 403)
  },
)
