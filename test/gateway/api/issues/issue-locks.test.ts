/** Locks of issues over the API: their effect on comments, and permission to set them. */

import t from 'tap'
import { startGatewayWithUsers } from '../../../helpers/gateway-with-users.js'

const R = '/repos/ada/r'

t.test('only users with write permission may comment on a locked issue', async (t) => {
  const { as } = await startGatewayWithUsers(t)
  await as('ada', 'POST', '/user/repos', { name: 'r' })
  await as('bob', 'POST', `${R}/issues`, { title: 'x' })
  const say = async (name: 'ada' | 'bob') =>
    (await as(name, 'POST', `${R}/issues/1/comments`, { body: 'c' })).status
  t.equal((await as('bob', 'PUT', `${R}/issues/1/lock`, {})).status, 403, 'not by its author')
  t.equal((await as('ada', 'PUT', `${R}/issues/1/lock`, { lock_reason: 'spam' })).status, 204)
  t.match((await as('bob', 'GET', `${R}/issues/1`)).json, { is_locked: true, state: 'open' })
  t.equal(await say('bob'), 403)
  t.equal(await say('ada'), 201)
  t.equal((await as('bob', 'DELETE', `${R}/issues/1/lock`)).status, 403)
  t.equal((await as('ada', 'DELETE', `${R}/issues/1/lock`)).status, 204)
  t.equal(await say('bob'), 201)
  t.equal((await as('ada', 'PUT', `${R}/issues/2/lock`, {})).status, 404)
})
