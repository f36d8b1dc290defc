/** Teams of a repository over the API: list, check, add and remove. */

import t from 'tap'
import { startGatewayWithUsers } from '../../../helpers/gateway-with-users.js'

t.test('administrators add and remove teams of a repository', async (t) => {
  const { as } = await startGatewayWithUsers(t)
  await as('ada', 'POST', '/orgs', { username: 'club' })
  await as('ada', 'POST', '/orgs/club/repos', { name: 'r' })
  const team = { name: 'Readers', permission: 'read', units: ['repo.code'] }
  t.equal((await as('ada', 'POST', '/orgs/club/teams', team)).status, 201)
  const path = '/repos/club/r/teams'
  const names = async (name: 'ada' | 'bob' = 'ada') => {
    const { json } = await as(name, 'GET', path)
    return (json as { name: string }[]).map((one) => one.name)
  }
  t.strictSame(await names(), ['Owners'])
  t.equal((await as('ada', 'GET', `${path}/readers`)).status, 404)
  t.equal((await as('bob', 'PUT', `${path}/readers`)).status, 403)
  t.equal((await as('ada', 'PUT', `${path}/readers`)).status, 204)
  t.match(await as('ada', 'PUT', `${path}/readers`), { status: 422, text: /has the repository/ })
  t.strictSame(await names('bob'), ['Owners', 'Readers'])
  t.match(await as('ada', 'GET', `${path}/readers`), { status: 200, json: { name: 'Readers' } })
  t.equal((await as('bob', 'DELETE', `${path}/readers`)).status, 403)
  t.equal((await as('ada', 'DELETE', `${path}/readers`)).status, 204)
  t.match(await as('ada', 'DELETE', `${path}/readers`), { status: 422, text: /does not have/ })
  t.match(await as('ada', 'DELETE', `${path}/owners`), { status: 422 })
  t.equal((await as('ada', 'GET', `${path}/none`)).status, 404)
  t.equal((await as('anyone', 'GET', path)).status, 401)

  await as('ada', 'POST', '/user/repos', { name: 'own' })
  t.match(await as('ada', 'GET', '/repos/ada/own/teams'), {
    status: 405,
    text: /ada is not an organization/,
  })
})
