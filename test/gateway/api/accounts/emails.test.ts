/** E-mail addresses over the API. */

import t from 'tap'
import { forEachDatabase, onOneDatabase } from '../../../helpers/databases.js'
import { startGatewayWithUsers } from '../../../helpers/gateway-with-users.js'
import { passwordOf } from '../../../helpers/passwords.js'
import { withPassword } from '../../../helpers/requests.js'

await forEachDatabase(t, 'users add, list and delete their addresses', async (t, location) => {
  const { as, ask, ada } = await startGatewayWithUsers(t, { location })
  const primary = {
    email: 'ada@example.com',
    verified: true,
    primary: true,
    user_id: ada.id,
    username: 'ada',
  }
  t.strictSame((await as('ada', 'GET', '/user/emails')).json, [primary])
  const emails = ['Ada@work.example', 'ada@home.example']
  const added = await as('ada', 'POST', '/user/emails', { emails })
  const all = [primary, ...emails.map((email) => ({ ...primary, email, primary: false }))]
  t.strictSame([added.status, added.json], [201, all])
  t.strictSame((await as('ada', 'GET', '/user/emails')).json, all)
  const authorization = withPassword('ada@WORK.example', passwordOf('ada'))
  const signedIn = await ask({ path: '/api/v1/user', authorization })
  t.match(signedIn.json, { login: 'ada', email: 'ada@example.com' })

  const remove = (...removed: string[]) => as('ada', 'DELETE', '/user/emails', { emails: removed })
  t.equal((await remove('ada@HOME.example')).status, 204)
  t.equal((await remove()).status, 204)
  t.strictSame((await as('ada', 'GET', '/user/emails')).json, all.slice(0, 2))
  t.equal((await remove('ada@work.example', 'ada@example.com')).status, 422)
  t.equal((await remove('ada@work.example', 'bob@example.com')).status, 404)
  t.strictSame((await as('ada', 'GET', '/user/emails')).json, all.slice(0, 2), 'all or none')
  t.equal((await as('anyone', 'GET', '/user/emails')).status, 401)
})

await onOneDatabase(
  t,
  'addresses that are taken, malformed or too many are refused',
  async (t, location) => {
    const { as } = await startGatewayWithUsers(t, { location })
    const add = (name: 'ada' | 'bob', emails: readonly string[]) =>
      as(name, 'POST', '/user/emails', { emails })
    t.match(await add('ada', ['a@x.example', 'BOB@example.com']), {
      status: 422,
      json: { message: 'Email address has been used: BOB@example.com' },
    })
    t.equal((await add('ada', ['a@x.example', 'a@X.example'])).status, 422)
    t.equal((await add('ada', ['not an address'])).status, 422)
    t.match(await add('ada', []), { status: 422, json: { message: 'Email list empty' } })
    const many = Array.from({ length: 99 }, (_, number) => `${number}@x.example`)
    t.equal((await add('ada', many)).status, 201)
    t.match(await add('ada', ['one@more.example']), {
      status: 422,
      json: { message: 'A user has at most 100 e-mail addresses.' },
    })
    t.equal((await add('bob', ['one@more.example'])).status, 201)
  },
)

await onOneDatabase(
  t,
  'an administrator promotes a further address, and lists and searches all',
  async (t, location) => {
    const { as } = await startGatewayWithUsers(t, { location })
    await as('ada', 'POST', '/user/emails', { emails: ['zoe@x.example'] })
    const changed = await as('root', 'PATCH', '/admin/users/ada', { email: 'zoe@x.example' })
    t.match([changed.status, changed.json], [200, { email: 'zoe@x.example' }])
    t.match((await as('ada', 'GET', '/user/emails')).json, [{ email: 'zoe@x.example' }])
    const found = async (path: string) => {
      const { json, headers } = await as('root', 'GET', `/admin/emails${path}`)
      const list = json as { email: string; username: string }[]
      return [Number(headers['x-total-count']), list.map((entry) => entry.email)]
    }
    const all = ['bob@example.com', 'root@example.com', 'zoe@x.example']
    t.strictSame(await found(''), [3, all])
    t.strictSame(await found('?limit=1&page=2'), [3, ['root@example.com']])
    t.strictSame(await found('/search?q=EXAMPLE.com'), [2, all.slice(0, 2)])
    t.equal((await as('ada', 'GET', '/admin/emails')).status, 403)
    t.equal((await as('ada', 'GET', '/admin/emails/search')).status, 403)
  },
)
