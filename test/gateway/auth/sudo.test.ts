/** Sudo: a site administrator acts as another user, within the limits of the token. */

import t from 'tap'
import { startGatewayWithUsers } from '../../helpers/gateway-with-users.js'
import { passwordOf } from '../../helpers/passwords.js'
import { withPassword, withToken } from '../../helpers/requests.js'

t.test('an administrator acts as the user that the request names', async (t) => {
  const { ask, authorizationOf, lines } = await startGatewayWithUsers(t)
  const authorization = authorizationOf('root')
  const asked = async (path: string, sudo?: string) => {
    const headers = sudo === undefined ? {} : { Sudo: sudo }
    return await ask({ path: `/api/v1${path}`, authorization, headers })
  }
  t.match((await asked('/user')).json, { login: 'root' })
  t.match((await asked('/user', 'ADA')).json, { login: 'ada' })
  t.match((await asked('/user?sudo=ada')).json, { login: 'ada' })
  t.match((await asked('/user?sudo=')).json, { login: 'root' })
  t.match(
    lines.find(({ event }) => event === 'sudo'),
    { admin: 'root', as: 'ADA' },
  )
  t.equal((await asked('/admin/users', 'ada')).status, 403, 'without administrator permission')
  t.match(await asked('/user', 'absent'), { status: 404 })
  const body = { name: 'r' }
  await ask({
    method: 'POST',
    path: '/api/v1/user/repos',
    authorization,
    body,
    headers: { Sudo: 'ada' },
  })
  t.equal((await asked('/repos/ada/r')).status, 200)
  t.equal((await asked('/repos/root/r')).status, 404)
})

t.test('other users may not use sudo', async (t) => {
  const { ask, authorizationOf, addUser } = await startGatewayWithUsers(t)
  await addUser('eve')
  const message = 'Only administrators allowed to sudo.'
  for (const authorization of [authorizationOf('ada'), undefined]) {
    for (const name of ['bob', 'ada', 'absent']) {
      for (const path of ['/api/v1/user', '/api/v1/version']) {
        const byHeader = await ask({ path, authorization, headers: { Sudo: name } })
        t.match(byHeader, { status: 403, json: { message } })
        const byQuery = await ask({ path: `${path}?sudo=${name}`, authorization })
        t.match(byQuery, { status: 403, json: { message } })
      }
    }
  }
  const wrong = await ask({
    path: '/api/v1/user',
    headers: { Sudo: 'ada' },
    authorization: withPassword('root', 'wrong password'),
  })
  t.equal(wrong.status, 401)
  const git = await ask({
    path: '/ada/absent.git/info/refs?service=git-upload-pack',
    headers: { Sudo: 'root' },
  })
  t.equal(git.status, 401, 'over the API only')
})

t.test('sudo does not exceed the limits of the token', async (t) => {
  const { ask, addUser, addToken } = await startGatewayWithUsers(t)
  const chief = await addUser('chief', { isAdmin: true })
  const headers = { Sudo: 'ada' }
  const narrow = await addToken(chief, 'read:user')
  const authorization = withToken(narrow.plain)
  t.match((await ask({ path: '/api/v1/user', authorization, headers })).json, { login: 'ada' })
  const refused = await ask({ path: '/api/v1/user/repos', authorization, headers })
  t.match(refused, { status: 401, json: { message: /required scope/ } })
  const limited = withToken((await addToken(chief, 'public-only', 'all')).plain)
  const closed = await ask({ path: '/api/v1/user/repos', authorization: limited, headers })
  t.equal(closed.status, 403)
  const password = withPassword('chief', passwordOf('chief'))
  const own = { path: '/api/v1/users/ada/tokens', authorization: password, headers }
  t.equal((await ask(own)).status, 200)
})
