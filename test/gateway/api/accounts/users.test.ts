/** Users over the API: the user's own fields, and the view of others. */

import t from 'tap'
import { forEachDatabase, onOneDatabase } from '../../../helpers/databases.js'
import { isExpected } from '../../../helpers/expected.js'
import {
  type Name,
  refusal,
  startGatewayWithUsers,
  visible,
} from '../../../helpers/gateway-with-users.js'
import { passwordOf } from '../../../helpers/passwords.js'
import { withPassword } from '../../../helpers/requests.js'

await onOneDatabase(t, "the user's own object has every field", async (t, location) => {
  const { as, ask } = await startGatewayWithUsers(t, { location })
  const self = await as('ada', 'GET', '/user')
  t.equal(self.status, 200)
  isExpected(t, self.json, 'api/user-self')
  t.strictSame((await as('ada', 'GET', '/users/ADA')).json, self.json, 'also by name')
  t.strictSame(
    (await as('root', 'GET', '/users/ada')).json,
    self.json,
    'also for site administrators',
  )

  await ask({ path: '/api/v1/user', authorization: withPassword('ada', passwordOf('ada')) })
  const { last_login } = (await as('ada', 'GET', '/user')).json as { last_login: string }
  t.ok(
    Math.abs(Date.now() - Date.parse(last_login)) < 60_000,
    'a sign-in with a password is stored',
  )
  const byEmail = withPassword('Ada@Example.com', passwordOf('ada'))
  t.match((await ask({ path: '/api/v1/user', authorization: byEmail })).json, { login: 'ada' })
})

await onOneDatabase(t, 'other users see neither address nor state', async (t, location) => {
  const { as } = await startGatewayWithUsers(t, { location })
  const seen = await as('anyone', 'GET', '/users/ada')
  t.equal(seen.status, 200)
  isExpected(t, seen.json, 'api/user-other')
  t.strictSame((await as('bob', 'GET', '/users/ada')).json, seen.json)
})

await onOneDatabase(t, 'a hidden user is reported like a missing one', async (t, location) => {
  const { as, db, ada } = await startGatewayWithUsers(t, { location })
  const setVisibility = (visibility: string) =>
    db('owners').where({ id: ada.id }).update({ visibility })
  const missing = await as('anyone', 'GET', '/users/absent')
  t.equal(missing.status, 404)
  t.strictSame(missing.json, refusal('not found'))
  await setVisibility('limited')
  t.strictSame(visible(await as('anyone', 'GET', '/users/ada')), visible(missing))
  t.equal((await as('bob', 'GET', '/users/ada')).status, 200)
  await setVisibility('private')
  t.strictSame(visible(await as('bob', 'GET', '/users/ada')), visible(missing))
  for (const name of ['ada', 'root'] as const) {
    t.equal((await as(name, 'GET', '/users/ada')).status, 200, name)
  }
  for (const name of ['%00', 'a%2Fb', '..', '%E2%84%AA', "'%20or%201=1"]) {
    t.strictSame(visible(await as('anyone', 'GET', `/users/${name}`)), visible(missing), name)
  }
  t.equal((await as('anyone', 'GET', '/users/%ff')).status, 400)
})

await onOneDatabase(
  t,
  'a user who may not sign in is refused with a message, by token and by password',
  async (t, location) => {
    const { as, ask, db, ada } = await startGatewayWithUsers(t, { location })
    await db('users').where({ owner_id: ada.id }).update({ is_login_prohibited: true })
    const message = 'prohibited from signing in, please contact your site administrator.'
    const closed = { status: 403, json: { message: new RegExp(message) } }
    t.match(await as('ada', 'GET', '/user'), closed)
    const authorization = withPassword('ada', passwordOf('ada'))
    t.match(await ask({ path: '/api/v1/version', authorization }), closed)
    const wrong = withPassword('ada', 'not the password')
    t.equal((await ask({ path: '/api/v1/user', authorization: wrong })).status, 401)
  },
)

await forEachDatabase(t, 'users are found by a part of their names', async (t, location) => {
  const { as, db, ada } = await startGatewayWithUsers(t, { location })
  await db('owners').where({ id: ada.id }).update({ full_name: 'Lady Lovelace' })
  const found = async (name: Name, query: string) => {
    const { json, headers } = await as(name, 'GET', `/users/search?${query}`)
    const { ok, data } = json as { ok: boolean; data: { login: string }[] }
    t.equal(ok, true)
    t.equal(headers['x-total-count'], String(data.length))
    return data.map(({ login }) => login)
  }
  t.strictSame(await found('anyone', ''), ['ada', 'bob', 'root'])
  t.strictSame(await found('anyone', 'q=O'), ['ada', 'bob', 'root'])
  t.strictSame(await found('anyone', 'q=LOVE'), ['ada'])
  t.strictSame(await found('anyone', 'q=%25'), [], 'no character is a wildcard')
  t.strictSame(await found('anyone', `uid=${ada.id}`), ['ada'])
  t.strictSame(await found('anyone', 'uid=999999'), [])
  await db('owners').where({ id: ada.id }).update({ visibility: 'private' })
  t.strictSame(await found('anyone', 'q=a'), [])
  t.strictSame(await found('bob', `uid=${ada.id}`), [])
  t.strictSame(await found('ada', 'q=ada'), ['ada'])
  t.strictSame(await found('root', 'q=ada'), ['ada'])
  t.match(await as('bob', 'GET', '/users/search?limit=1&page=2'), {
    json: { data: [{ id: Number }] },
  })
})

await onOneDatabase(
  t,
  'users are found by a part of their e-mail address by those who see it',
  async (t, location) => {
    const { as } = await startGatewayWithUsers(t, { location })
    const found = async (name: Name, text: string) => {
      const { json, headers } = await as(name, 'GET', `/users/search?q=${text}`)
      const { data } = json as { data: { login: string }[] }
      t.equal(headers['x-total-count'], String(data.length))
      return data.map(({ login }) => login)
    }
    t.strictSame(await found('root', '@EXAMPLE.com'), ['ada', 'bob', 'root'])
    t.strictSame(await found('ada', '@example.com'), ['ada'])
    t.strictSame(await found('anyone', '@example.com'), [])
  },
)
