/** Accounts over the API for site administrators. */

import { existsSync } from 'node:fs'
import t from 'tap'
import { onOneDatabase } from '../../../helpers/databases.js'
import { startGatewayWithUsers } from '../../../helpers/gateway-with-users.js'
import { withPassword, withToken } from '../../../helpers/requests.js'
import { aKeyLine } from '../../../helpers/ssh-keys.js'

const EVE = { username: 'Eve', email: 'eve@example.org', password: 'a password of eve' }

await onOneDatabase(
  t,
  'an administrator creates an account that can sign in',
  async (t, location) => {
    const { as, ask } = await startGatewayWithUsers(t, { location })
    const made = await as('root', 'POST', '/admin/users', {
      ...EVE,
      full_name: 'Eve E',
      visibility: 'limited',
      must_change_password: false,
      source_id: 0,
      login_name: 'eve',
      send_notify: true,
      restricted: false,
    })
    t.match(made, {
      status: 201,
      json: { login: 'Eve', full_name: 'Eve E', email: EVE.email, visibility: 'limited' },
    })
    const authorization = withPassword('eve', EVE.password)
    t.match((await ask({ path: '/api/v1/user', authorization })).json, { login: 'Eve' })
    const refused = async (changes: object, status: number) => {
      const body = { ...EVE, username: 'mal', email: 'mal@example.org', ...changes }
      const answer = await as('root', 'POST', '/admin/users', body)
      t.equal(answer.status, status, `${JSON.stringify(changes)} ${answer.text}`)
    }
    for (const username of ['eve', 'ADA', 'api', 'a/b', '']) await refused({ username }, 422)
    for (const email of ['eve@EXAMPLE.org', 'nowhere', '']) await refused({ email }, 422)
    for (const password of ['short', 'x'.repeat(257), 'a'.repeat(40)])
      await refused({ password }, 422)
    await refused({ password: undefined }, 400)
    await refused({ restricted: true }, 422)
    await refused({ source_id: 1 }, 422)
    await refused({ is_admin: true, username: 'mal2' }, 201)
    t.match((await as('root', 'GET', '/users/mal2')).json, { is_admin: false })
    t.match(await as('root', 'GET', '/admin/users?login_name=EVE'), {
      headers: { 'x-total-count': '1' },
      json: [{ login: 'Eve', email: EVE.email }],
    })
    t.match((await as('root', 'GET', '/admin/users?limit=2')).headers, { 'x-total-count': '5' })
  },
)

await onOneDatabase(
  t,
  'an administrator changes accounts, but cannot lock themselves out',
  async (t, location) => {
    const { as, ask } = await startGatewayWithUsers(t, { location })
    const edit = (body: object, name = 'ada') => as('root', 'PATCH', `/admin/users/${name}`, body)
    const before = (await as('root', 'GET', '/users/ada')).json as object
    t.strictSame((await edit({ source_id: 0, login_name: 'ada' })).json, before)
    const fields = { full_name: 'Ada L', location: 'London', description: 'd', website: 'w' }
    t.match((await edit({ ...fields, email: 'new@example.org' })).json, {
      ...fields,
      email: 'new@example.org',
    })
    t.equal((await edit({ email: 'BOB@example.com' })).status, 422)
    await edit({ password: 'another password' })
    const authorization = withPassword('new@example.org', 'another password')
    t.equal((await ask({ path: '/api/v1/user', authorization })).status, 200)
    t.equal((await edit({}, 'absent')).status, 404)
    t.match((await edit({ admin: true })).json, { is_admin: true })
    t.equal((await as('ada', 'GET', '/admin/users')).status, 200)
    await edit({ admin: false })
    t.equal((await as('ada', 'GET', '/admin/users')).status, 403, 'immediately')
    await edit({ prohibit_login: true })
    t.equal((await as('ada', 'GET', '/user')).status, 403, 'immediately')
    await edit({ prohibit_login: false, active: false })
    t.equal((await as('ada', 'GET', '/user')).status, 403, 'immediately')
    for (const body of [{ admin: false }, { active: false }, { prohibit_login: true }]) {
      t.equal((await edit(body, 'root')).status, 422)
    }
  },
)

await onOneDatabase(
  t,
  'an account is deleted with its repositories if purge is given, and refused otherwise',
  async (t, location) => {
    const { as, ask, pathOf, authorizationOf } = await startGatewayWithUsers(t, { location })
    await as('ada', 'POST', '/user/repos', { name: 'r', auto_init: true })
    const put = { method: 'PUT', path: '/api/packages/ada/generic/tool/1/f' }
    await ask({ ...put, body: Buffer.from('x'), authorization: authorizationOf('ada') })
    await as('ada', 'POST', '/orgs', { username: 'club' })
    const remove = (query = '', name = 'ada') =>
      as('root', 'DELETE', `/admin/users/${name}${query}`)
    t.equal((await remove('', 'root')).status, 422)
    t.equal((await remove('', 'absent')).status, 404)
    t.match(await remove('?purge=true'), { status: 422, json: { message: /last owner.*club/ } })
    t.equal((await as('ada', 'GET', '/repos/ada/r')).status, 200, 'nothing was deleted')
    await as('ada', 'DELETE', '/orgs/club')
    t.match(await remove(), { status: 422, json: { message: /still owns/ } })
    const path = await pathOf('ada', 'r')
    t.ok(existsSync(path))
    t.equal((await remove('?purge=true')).status, 204)
    t.notOk(existsSync(path))
    t.equal((await as('ada', 'GET', '/user')).status, 401, 'its tokens are deleted')
    t.equal((await as('root', 'GET', '/users/ada')).status, 404)
    t.equal((await remove('', 'bob')).status, 204, 'an account without repositories is deleted')
  },
)

await onOneDatabase(t, 'an administrator adds a key to an account', async (t, location) => {
  const { as } = await startGatewayWithUsers(t, { location })
  const key = { title: 'k', key: aKeyLine() }
  const added = await as('root', 'POST', '/admin/users/ada/keys', key)
  t.match(added, { status: 201, json: { title: 'k', user: { login: 'ada' } } })
  t.match((await as('ada', 'GET', '/user/keys')).json, [{ title: 'k' }])
  t.equal((await as('root', 'POST', '/admin/users/bob/keys', key)).status, 422)
  const { id } = added.json as { id: number }
  t.equal((await as('root', 'DELETE', `/admin/users/bob/keys/${id}`)).status, 404)
  t.equal((await as('root', 'DELETE', `/admin/users/ada/keys/${id}`)).status, 204)
  t.strictSame((await as('ada', 'GET', '/user/keys')).json, [])
})

await onOneDatabase(
  t,
  'the last administrator and the last owner of an organization cannot be locked out',
  async (t, location) => {
    const { as, db, addUser, addToken, ask } = await startGatewayWithUsers(t, { location })
    await as('ada', 'POST', '/orgs', { username: 'club' })
    const edit = (body: object, name = 'ada') => as('root', 'PATCH', `/admin/users/${name}`, body)
    const shut = [{ active: false }, { prohibit_login: true }]
    for (const body of shut) {
      t.match(await edit(body), { status: 422, json: { message: /no owner.*sign in.*club/ } })
    }
    t.equal((await as('ada', 'GET', '/user')).status, 200, 'nothing has changed')
    const [team] = (await as('ada', 'GET', '/orgs/club/teams')).json as { id: number }[]
    await as('ada', 'PUT', `/teams/${team?.id}/members/bob`)
    for (const body of shut) t.equal((await edit(body)).status, 200)
    for (const body of shut) t.equal((await edit(body, 'bob')).status, 422)
    t.equal((await as('bob', 'DELETE', '/orgs/club/members/bob')).status, 422)
    t.match(await as('root', 'DELETE', '/admin/users/bob'), {
      status: 422,
      json: { message: /last owner.*club/ },
    })
    t.equal((await as('bob', 'DELETE', '/orgs/club/members/ada')).status, 204)

    const admins = [
      await addUser('one', { isAdmin: true }),
      await addUser('two', { isAdmin: true }),
    ]
    const tokens = await Promise.all(admins.map((admin) => addToken(admin, 'all')))
    await db('users')
      .whereNotIn(
        'owner_id',
        admins.map(({ id }) => id),
      )
      .update({ is_admin: false })
    const ends = ['two', 'one'].map((name, index) =>
      ask({
        method: 'PATCH',
        path: `/api/v1/admin/users/${name}`,
        body: { prohibit_login: true },
        authorization: withToken(tokens[index]?.plain ?? ''),
      }),
    )
    const statuses = (await Promise.all(ends)).map(({ status }) => status)
    t.ok(statuses.includes(200), 'the first of two concurrent lockouts succeeds')
    const left = await db('users').where({ is_admin: true, is_login_prohibited: false })
    t.equal(left.length, 1)
  },
)

await onOneDatabase(
  t,
  'a renamed account keeps tokens, repositories and packages, and its former name redirects',
  async (t, location) => {
    const { as, ask, authorizationOf } = await startGatewayWithUsers(t, { location })
    const authorization = authorizationOf('ada') ?? ''
    await as('ada', 'POST', '/user/repos', { name: 'r', private: true })
    await as('ada', 'POST', '/orgs', { username: 'club' })
    const file = (owner: string) => `/api/packages/${owner}/generic/tool/1.0/tool.txt`
    const sent = await ask({ method: 'PUT', path: file('ada'), authorization, body: 'tool' })
    t.equal(sent.status, 201)
    const rename = (path: string, name: string) =>
      as('root', 'POST', `${path}/rename`, { new_username: name, new_name: name })
    const path = '/admin/users/ada'
    for (const name of ['bob', 'CLUB', 'admin', 'a..b', 'x'.repeat(41), 'a/b']) {
      t.equal((await rename(path, name)).status, 422, name)
    }
    t.equal((await rename('/admin/users/club', 'x')).status, 404)
    t.equal((await as('ada', 'POST', `${path}/rename`, { new_username: 'x' })).status, 403)
    t.equal((await rename(path, 'Ada')).status, 204, 'another letter case')
    t.equal((await rename(path, 'lovelace')).status, 204)
    t.match((await as('ada', 'GET', '/user')).json, { login: 'lovelace' })
    t.equal((await as('bob', 'GET', '/users/ada')).status, 404)
    t.match((await as('ada', 'GET', '/repos/lovelace/r')).json, { full_name: 'lovelace/r' })
    const moved = await as('ada', 'GET', '/repos/ada/r')
    t.match(moved, { status: 307, headers: { location: '/api/v1/repos/lovelace/r' } })
    t.equal((await as('bob', 'GET', '/repos/ada/r')).status, 404, 'a private one does not')
    t.equal((await ask({ path: file('lovelace'), authorization })).text, 'tool')
    t.equal((await ask({ path: file('ada'), authorization })).status, 404)
    await as('ada', 'PATCH', '/repos/lovelace/r', { name: 's' })
    t.match((await as('ada', 'GET', '/repos/ada/r')).headers, { location: '/repos/lovelace/s' })
    t.equal((await as('bob', 'POST', '/orgs/club/rename', { new_name: 'x' })).status, 403)
    t.equal((await rename('/orgs/club', 'ada')).status, 204, 'a former name can be used')
    t.equal((await as('ada', 'GET', '/repos/ada/r')).status, 404, 'and then does not redirect')
    t.equal((await as('ada', 'GET', '/orgs/ada')).status, 200)
  },
)
