/** Reactions over the API, to issues and comments. */

import t from 'tap'
import { onOneDatabase } from '../../../helpers/databases.js'
import { startGatewayWithUsers } from '../../../helpers/gateway-with-users.js'

const R = '/repos/ada/r'

await onOneDatabase(t, 'a reader adds each reaction once', async (t, location) => {
  const { as } = await startGatewayWithUsers(t, { location })
  for (const name of ['r', 'other']) await as('ada', 'POST', '/user/repos', { name })
  await as('ada', 'POST', `${R}/issues`, { title: 'x' })
  const { json } = await as('ada', 'POST', `${R}/issues/1/comments`, { body: 'c' })
  const comment = `/issues/comments/${(json as { id: number }).id}/reactions`
  for (const rest of ['/issues/1/reactions', comment]) {
    const path = R + rest
    const react = (name: 'ada' | 'bob' | 'anyone', content: unknown, method = 'POST') =>
      as(name, method, path, { content })
    const first = await react('bob', 'heart')
    t.equal(first.status, 201)
    t.match(first.json, { user: { login: 'bob' }, content: 'heart', created_at: /^20/ })
    const again = await react('bob', 'heart')
    t.strictSame([again.status, again.json], [200, first.json])
    t.equal((await react('ada', 'heart')).status, 201)
    const listed = await as('anyone', 'GET', `${path}?limit=1`)
    t.strictSame(listed.json, [first.json])
    t.equal(listed.headers['x-total-count'], '2')
    t.match(listed.headers['link'], `/api/v1${path}?limit=1&page=2>; rel="next"`)
    for (const content of ['thumbsup', '+2', '<b>', 'HEART']) {
      t.equal((await react('ada', content)).status, 403, content)
    }
    for (const content of ['', 1, null]) t.equal((await react('ada', content)).status, 422)
    t.equal((await react('anyone', 'eyes')).status, 401)
    const taken = await react('bob', 'heart', 'DELETE')
    t.strictSame([taken.status, taken.text], [200, ''])
    t.equal((await react('bob', 'heart', 'DELETE')).status, 200, 'there is no reaction to remove')
    t.match((await as('ada', 'GET', path)).json, [{ user: { login: 'ada' } }])
    t.equal((await as('ada', 'GET', `/repos/ada/other${rest}`)).status, 404)
  }
  await as('ada', 'PUT', `${R}/issues/1/lock`, {})
  const locked = await as('bob', 'POST', `${R}/issues/1/reactions`, { content: '+1' })
  t.equal(locked.status, 403)
})
