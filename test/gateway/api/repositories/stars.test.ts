/** Stars over the API. */

import t from 'tap'
import { forEachDatabase } from '../../../helpers/databases.js'
import { BASE_URL } from '../../../helpers/gateway.js'
import { startGatewayWithUsers } from '../../../helpers/gateway-with-users.js'
import { withToken } from '../../../helpers/requests.js'

await forEachDatabase(
  t,
  'users star repositories that they may see, and stars are counted',
  async (t, location) => {
    const { as, ask, addToken, bob } = await startGatewayWithUsers(t, { location })
    await as('ada', 'POST', '/user/repos', { name: 'r' })
    await as('ada', 'POST', '/user/repos', { name: 'other' })
    await as('ada', 'POST', '/user/repos', { name: 'shut', private: true })
    const star = '/user/starred/ada/r'
    t.equal((await as('anyone', 'PUT', star)).status, 401)
    t.equal((await as('bob', 'GET', star)).status, 404)
    for (const name of ['bob', 'ada', 'bob'] as const) {
      t.equal((await as(name, 'PUT', star)).status, 204)
    }
    t.equal((await as('bob', 'GET', star)).status, 204)
    t.equal((await as('bob', 'PUT', '/user/starred/ada/shut')).status, 404)
    t.equal((await as('ada', 'PUT', '/user/starred/ada/shut')).status, 204)

    t.match((await as('anyone', 'GET', '/repos/ada/r')).json, { stars_count: 2 })
    t.match((await as('anyone', 'GET', '/users/ada/repos')).json, [
      { name: 'r', stars_count: 2 },
      { name: 'other', stars_count: 0 },
    ])
    const people = await as('anyone', 'GET', '/repos/ada/r/stargazers')
    t.match(people, {
      headers: { 'x-total-count': '2' },
      json: [{ login: 'ada' }, { login: 'bob' }],
    })
    const sorted = await as('anyone', 'GET', '/repos/search?sort=stars&order=desc')
    t.match(sorted.json, { data: [{ name: 'r' }, { name: 'other' }] })
    const liked = await as('ada', 'GET', `/repos/search?starredBy=${bob.id}`)
    t.match(liked.json, { data: [{ name: 'r' }] })
    t.equal((liked.json as { data: unknown[] }).data.length, 1)

    const of = async (name: 'ada' | 'bob' | 'anyone', path: string) =>
      ((await as(name, 'GET', path)).json as { name: string }[]).map((entry) => entry.name)
    t.strictSame(await of('ada', '/user/starred'), ['r', 'shut'])
    t.strictSame(await of('ada', '/users/ada/starred'), ['r', 'shut'])
    t.strictSame(await of('bob', '/users/ada/starred'), ['r'], 'hidden repositories are left out')
    t.strictSame(await of('anyone', '/users/ada/starred'), ['r'])
    t.equal((await as('anyone', 'GET', '/users/absent/starred')).status, 404)

    const { plain } = await addToken(bob, 'read:repository', 'read:user')
    const path = `/api/v1${star}`
    t.equal((await ask({ path, authorization: withToken(plain) })).status, 204)
    t.equal((await ask({ method: 'PUT', path, authorization: withToken(plain) })).status, 401)
    await as('ada', 'PATCH', '/repos/ada/r', { name: 'renamed' })
    t.match(await as('bob', 'GET', star), {
      status: 307,
      headers: { location: `${BASE_URL}/api/v1/user/starred/ada/renamed` },
    })
    const renamed = '/user/starred/ada/renamed'
    t.equal((await as('bob', 'GET', renamed)).status, 204, 'a star is kept after a rename')
    for (let round = 0; round < 2; round += 1) {
      t.equal((await as('bob', 'DELETE', renamed)).status, 204)
    }
    t.equal((await as('bob', 'GET', renamed)).status, 404)
    t.equal((await as('root', 'DELETE', '/admin/users/bob?purge=true')).status, 204)
    t.equal((await as('ada', 'DELETE', '/repos/ada/shut')).status, 204)
    t.strictSame(await of('ada', '/user/starred'), ['renamed'])
  },
)
