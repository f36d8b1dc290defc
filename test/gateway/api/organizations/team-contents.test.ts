/** Members and repositories of teams over the API. */

import t from 'tap'
import { forEachDatabase, onOneDatabase } from '../../../helpers/databases.js'
import {
  type GatewayWithUsers,
  startGatewayWithUsers,
} from '../../../helpers/gateway-with-users.js'

type Fields = Record<string, unknown>

async function addTeam({ as }: GatewayWithUsers, name: string): Promise<string> {
  const made = await as('ada', 'POST', '/orgs/club/teams', { name })
  return `/teams/${(made.json as Fields)['id']}`
}

await onOneDatabase(
  t,
  'members are added and removed, and the last owner is kept',
  async (t, location) => {
    const gateway = await startGatewayWithUsers(t, { location })
    const { as } = gateway
    await gateway.addOrganization('club', gateway.ada)
    const team = await addTeam(gateway, 'w')
    const [owners] = (await as('ada', 'GET', '/orgs/club/teams')).json as [Fields]
    const top = `/teams/${owners['id']}`
    t.equal((await as('ada', 'PUT', `${team}/members/bob`)).status, 204)
    t.equal((await as('ada', 'PUT', `${team}/members/bob`)).status, 204)
    t.match(await as('bob', 'GET', `${team}/members`), {
      headers: { 'x-total-count': '1' },
      json: [{ login: 'bob' }],
    })
    t.equal((await as('bob', 'GET', `${team}/members/ada`)).status, 404)
    t.equal((await as('bob', 'PUT', `${team}/members/ada`)).status, 403)
    t.equal((await as('bob', 'DELETE', `${team}/members/bob`)).status, 403)
    t.equal((await as('ada', 'PUT', `${team}/members/absent`)).status, 404)
    t.equal((await as('ada', 'PUT', `${team}/members/club`)).status, 404)

    const last = await as('ada', 'DELETE', `${top}/members/ada`)
    t.match(last, { status: 422, json: { message: /last owner/ } })
    t.equal((await as('ada', 'DELETE', '/orgs/club/members/ada')).status, 422)
    t.equal((await as('ada', 'GET', `${top}/members/ada`)).status, 200, 'and is still a member')
    await as('ada', 'PUT', `${top}/members/bob`)
    t.equal((await as('ada', 'DELETE', `${top}/members/ada`)).status, 204)
    t.equal((await as('ada', 'GET', team)).status, 404)
    t.equal((await as('bob', 'DELETE', `${team}/members/bob`)).status, 204)
    t.equal((await as('bob', 'DELETE', `${team}/members/bob`)).status, 404)
  },
)

await forEachDatabase(
  t,
  'of two owners who leave concurrently one is kept',
  async (t, location) => {
    const gateway = await startGatewayWithUsers(t, { location })
    await gateway.addOrganization('club', gateway.ada)
    const [owners] = (await gateway.as('ada', 'GET', '/orgs/club/teams')).json as [Fields]
    const top = `/teams/${owners['id']}/members`
    await gateway.as('ada', 'PUT', `${top}/bob`)
    const left = await Promise.all(
      ['ada', 'bob'].map((name) => gateway.as('root', 'DELETE', `${top}/${name}`)),
    )
    t.strictSame(left.map(({ status }) => status).sort(), [204, 422])
    t.equal(((await gateway.as('root', 'GET', top)).json as unknown[]).length, 1)
  },
)

await forEachDatabase(
  t,
  'a team has repositories of its organization only',
  async (t, location) => {
    const gateway = await startGatewayWithUsers(t, { location })
    const { as, ada, addOrganization } = gateway
    await addOrganization('club', ada)
    await addOrganization('den', ada)
    const team = await addTeam(gateway, 'w')
    await as('ada', 'PUT', `${team}/members/bob`)
    for (const place of ['/orgs/club/repos', '/orgs/den/repos', '/user/repos']) {
      await as('ada', 'POST', place, { name: 'r', private: true })
    }
    const own = `${team}/repos/club/r`
    t.strictSame((await as('bob', 'GET', `${team}/repos`)).json, [])
    t.equal((await as('bob', 'GET', own)).status, 404)
    t.equal((await as('bob', 'PUT', own)).status, 403)
    for (const place of ['den/r', 'ada/r', 'club/absent', 'x/y']) {
      t.equal((await as('ada', 'PUT', `${team}/repos/${place}`)).status, 404, place)
    }
    t.equal((await as('ada', 'PUT', own)).status, 204)
    t.equal((await as('ada', 'PUT', own)).status, 204)
    t.match((await as('bob', 'GET', own)).json, { full_name: 'club/r' })
    t.match(await as('bob', 'GET', `${team}/repos`), {
      headers: { 'x-total-count': '1' },
      json: [{ full_name: 'club/r' }],
    })
    t.equal((await as('ada', 'DELETE', own)).status, 204)
    t.equal((await as('ada', 'DELETE', own)).status, 404)
    await as('ada', 'PATCH', team, { includes_all_repositories: true })
    t.match((await as('bob', 'GET', `${team}/repos`)).json, [{ full_name: 'club/r' }])
  },
)
