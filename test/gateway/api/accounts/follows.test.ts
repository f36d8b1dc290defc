/** Followers over the API. */

import t from 'tap'
import { forEachDatabase, onOneDatabase } from '../../../helpers/databases.js'
import {
  type GatewayWithUsers,
  type Name,
  startGatewayWithUsers,
  visible,
} from '../../../helpers/gateway-with-users.js'

/** Returns a function that lists the names of a list, and checks its total. */
function namesIn({ as }: Pick<GatewayWithUsers, 'as'>) {
  return async (name: Name, path: string) => {
    const { json, headers } = await as(name, 'GET', path)
    const list = json as { login: string }[]
    t.equal(headers['x-total-count'], String(list.length), path)
    return list.map(({ login }) => login)
  }
}

await onOneDatabase(
  t,
  'followers are listed, checked and counted until they unfollow',
  async (t, location) => {
    const gateway = await startGatewayWithUsers(t, { location })
    const { as } = gateway
    const names = namesIn(gateway)
    await as('ada', 'POST', '/user/repos', { name: 'r' })
    await as('bob', 'PUT', '/user/starred/ada/r')
    t.equal((await as('ada', 'PUT', '/user/following/BOB')).status, 204)
    t.equal((await as('ada', 'PUT', '/user/following/bob')).status, 204, 'again')
    t.equal((await as('ada', 'PUT', '/user/following/ada')).status, 204, 'without effect')
    t.equal((await as('root', 'PUT', '/user/following/bob')).status, 204)
    t.strictSame(await names('bob', '/user/followers'), ['ada', 'root'])
    t.strictSame(await names('anyone', '/users/bob/followers'), ['ada', 'root'])
    t.strictSame(await names('ada', '/user/following'), ['bob'])
    t.strictSame(await names('anyone', '/users/ada/following'), ['bob'])
    t.strictSame(await names('ada', '/user/followers'), [])
    t.match((await as('anyone', 'GET', '/users/bob/followers?limit=1&page=2')).json, [
      { login: 'root', following_count: 1 },
    ])
    const counts = { followers_count: 2, following_count: 0, starred_repos_count: 1 }
    t.match((await as('anyone', 'GET', '/users/bob')).json, counts)
    t.match((await as('bob', 'GET', '/user')).json, counts)
    t.match((await as('anyone', 'GET', '/users/search?q=bob')).json, { data: [counts] })
    t.equal((await as('ada', 'GET', '/user/following/bob')).status, 204)
    t.equal((await as('bob', 'GET', '/user/following/ada')).status, 404)
    t.equal((await as('anyone', 'GET', '/users/ada/following/bob')).status, 204)
    t.equal((await as('anyone', 'GET', '/users/bob/following/ada')).status, 404)
    t.equal((await as('ada', 'DELETE', '/user/following/bob')).status, 204)
    t.equal((await as('ada', 'DELETE', '/user/following/bob')).status, 204, 'again')
    t.strictSame(await names('bob', '/user/followers'), ['root'])
    t.equal((await as('anyone', 'PUT', '/user/following/bob')).status, 401)
  },
)

await forEachDatabase(
  t,
  'hidden users are neither followed nor listed for those who cannot see them',
  async (t, location) => {
    const gateway = await startGatewayWithUsers(t, { location })
    const { as, db, ada } = gateway
    const names = namesIn(gateway)
    await as('ada', 'PUT', '/user/following/bob')
    await db('owners').where({ id: ada.id }).update({ visibility: 'private' })
    t.strictSame(await names('anyone', '/users/bob/followers'), [])
    t.strictSame(await names('bob', '/user/followers'), [])
    t.strictSame(await names('root', '/users/bob/followers'), ['ada'])
    for (const [method, path] of [
      ['PUT', '/user/following/'],
      ['GET', '/user/following/'],
      ['DELETE', '/user/following/'],
      ['GET', '/users/bob/following/'],
    ] as const) {
      const missing = await as('bob', method, `${path}absent`)
      t.equal(missing.status, 404)
      t.strictSame(visible(await as('bob', method, `${path}ada`)), visible(missing), path)
    }
    const missing = await as('bob', 'GET', '/users/absent/followers')
    t.strictSame(visible(await as('bob', 'GET', '/users/ada/followers')), visible(missing))
    t.strictSame(visible(await as('bob', 'GET', '/users/ada/following')), visible(missing))
  },
)
