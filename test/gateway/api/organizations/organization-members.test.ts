/** Members of organizations over the API, and who may see them. */

import t from 'tap'
import { onOneDatabase } from '../../../helpers/databases.js'
import { BASE_URL } from '../../../helpers/gateway.js'
import { startGatewayWithUsers } from '../../../helpers/gateway-with-users.js'
import { type Answer, withToken } from '../../../helpers/requests.js'

type Fields = Record<string, unknown>

const loginsOf = ({ json }: Answer) => (json as Fields[]).map(({ login }) => login)

await onOneDatabase(t, 'users who are not members see public members only', async (t, location) => {
  const { as, ask, addToken, addOrganization, addUser, db, ada } = await startGatewayWithUsers(t, {
    location,
  })
  await addOrganization('club', ada)
  await addOrganization('den', ada, 'private')
  await addUser('eve')
  const made = await as('ada', 'POST', '/orgs/club/teams', { name: 'w' })
  await as('ada', 'PUT', `/teams/${(made.json as Fields)['id']}/members/bob`)
  const members = '/orgs/club/members'
  t.strictSame(loginsOf(await as('bob', 'GET', members)), ['ada', 'bob'])
  t.strictSame(loginsOf(await as('anyone', 'GET', members)), [])
  t.equal((await as('anyone', 'GET', '/orgs/den/members')).status, 404)
  t.equal((await as('bob', 'GET', '/orgs/den/public_members')).status, 404)

  const shown = '/orgs/club/public_members'
  t.equal((await as('bob', 'PUT', `${shown}/ada`)).status, 403)
  t.equal((await as('bob', 'PUT', `${shown}/bob`)).status, 204)
  t.equal((await as('bob', 'PUT', `${shown}/bob`)).status, 204)
  t.equal((await as('root', 'PUT', `${shown}/root`)).status, 404, 'not a member')
  t.strictSame(loginsOf(await as('anyone', 'GET', members)), ['bob'])
  t.strictSame(loginsOf(await as('ada', 'GET', shown)), ['bob'])
  t.equal((await as('anyone', 'GET', `${shown}/bob`)).status, 204)
  t.equal((await as('anyone', 'GET', `${shown}/ada`)).status, 404)
  const { plain } = await addToken(ada, 'public-only', 'all')
  const limited = await ask({ path: `/api/v1${members}`, authorization: withToken(plain) })
  t.strictSame(
    loginsOf(limited),
    ['bob'],
    'a token limited to public objects sees public members only',
  )
  await db('owners').where({ name: 'bob' }).update({ visibility: 'private' })
  t.strictSame(loginsOf(await as('anyone', 'GET', shown)), [], 'no private member')
  t.strictSame(loginsOf(await as('ada', 'GET', members)), ['ada', 'bob'])
  t.equal((await as('bob', 'DELETE', `${shown}/bob`)).status, 204)
  t.strictSame(loginsOf(await as('ada', 'GET', shown)), [])
})

await onOneDatabase(
  t,
  'a membership is checked for members, and others are redirected to the public list',
  async (t, location) => {
    const { as, ask, addUser, addToken, addOrganization, ada } = await startGatewayWithUsers(t, {
      location,
    })
    await addOrganization('club', ada)
    const { plain } = await addToken(await addUser('eve'), 'all')
    const eve = (path: string) => ask({ path: `/api/v1${path}`, authorization: withToken(plain) })
    const made = await as('ada', 'POST', '/orgs/club/teams', { name: 'w' })
    const team = `/teams/${(made.json as Fields)['id']}/members/bob`
    await as('ada', 'PUT', team)
    const asked = '/orgs/club/members'
    t.equal((await as('bob', 'GET', `${asked}/ada`)).status, 204)
    t.equal((await as('bob', 'GET', `${asked}/eve`)).status, 404)
    t.equal((await as('anyone', 'GET', `${asked}/ada`)).status, 401)
    t.equal((await eve(`${asked}/eve`)).status, 404)
    const elsewhere = await eve(`${asked}/ada`)
    t.equal(elsewhere.status, 303)
    t.equal(elsewhere.headers.location, `${BASE_URL}/api/v1/orgs/club/public_members/ada`)

    await as('bob', 'PUT', '/orgs/club/public_members/bob')
    t.equal((await as('bob', 'DELETE', `${asked}/bob`)).status, 403)
    t.equal((await as('ada', 'DELETE', `${asked}/bob`)).status, 204)
    t.equal((await as('ada', 'DELETE', `${asked}/bob`)).status, 404)
    t.equal((await as('bob', 'GET', team)).status, 404)
    await as('ada', 'PUT', team)
    t.strictSame(
      loginsOf(await eve(asked)),
      [],
      'membership of a returning member is private again',
    )
  },
)
