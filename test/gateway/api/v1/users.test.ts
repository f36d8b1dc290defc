/** Users over the API, on both databases: what one sees of oneself, and of others. */

import t from 'tap'
import { forEachDatabase } from '../../../helpers/databases.js'
import { isExpected } from '../../../helpers/expected.js'
import { passwordOf } from '../../../helpers/gateway.js'
import { withPassword } from '../../../helpers/requests.js'
import { refusal, startTown, visible } from '../../../helpers/town.js'

await forEachDatabase(t, 'oneself is shown with every field', async (t, location) => {
  const { as, ask } = await startTown(t, { location })
  const self = await as('ada', 'GET', '/user')
  t.equal(self.status, 200)
  isExpected(t, self.json, 'api/user-self')
  t.strictSame((await as('ada', 'GET', '/users/ADA')).json, self.json, 'also by name')
  t.strictSame((await as('root', 'GET', '/users/ada')).json, self.json, 'and to site admins')

  await ask({ path: '/api/v1/user', authorization: withPassword('ada', passwordOf('ada')) })
  const { last_login } = (await as('ada', 'GET', '/user')).json as { last_login: string }
  t.ok(Math.abs(Date.now() - Date.parse(last_login)) < 60_000, 'a sign-in by password is noted')
  const byEmail = withPassword('Ada@Example.com', passwordOf('ada'))
  t.match((await ask({ path: '/api/v1/user', authorization: byEmail })).json, { login: 'ada' })
})

await forEachDatabase(t, 'others see no address and no state', async (t, location) => {
  const { as } = await startTown(t, { location })
  const seen = await as('anyone', 'GET', '/users/ada')
  t.equal(seen.status, 200)
  isExpected(t, seen.json, 'api/user-other')
  t.strictSame((await as('bob', 'GET', '/users/ada')).json, seen.json)
})

await forEachDatabase(t, 'a hidden user looks like a missing one', async (t, location) => {
  const { as, db, ada } = await startTown(t, { location })
  const setVisibility = (visibility: string) =>
    db('owners').where({ id: ada.id }).update({ visibility })
  const missing = await as('anyone', 'GET', '/users/absent')
  t.equal(missing.status, 404)
  t.strictSame(missing.json, refusal("The target couldn't be found."))
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

await forEachDatabase(t, 'a closed account is told so, whatever it holds', async (t, location) => {
  const { as, ask, db, ada } = await startTown(t, { location })
  await db('users').where({ owner_id: ada.id }).update({ is_login_prohibited: true })
  const message = 'prohibited from signing in, please contact your site administrator.'
  const closed = { status: 403, json: { message: new RegExp(message) } }
  t.match(await as('ada', 'GET', '/user'), closed)
  const authorization = withPassword('ada', passwordOf('ada'))
  t.match(await ask({ path: '/api/v1/version', authorization }), closed)
  const wrong = withPassword('ada', 'not the password')
  t.equal((await ask({ path: '/api/v1/user', authorization: wrong })).status, 401)
})
