/** Teams over the API: created, changed, searched, and visible to members only. */

import t from 'tap'
import { forEachDatabase, onOneDatabase } from '../../../helpers/databases.js'
import { isExpected } from '../../../helpers/expected.js'
import { startGatewayWithUsers } from '../../../helpers/gateway-with-users.js'
import { withToken } from '../../../helpers/requests.js'

type Fields = Record<string, unknown>

await forEachDatabase(t, 'a team is created, changed and deleted', async (t, location) => {
  const { as, addOrganization, ada } = await startGatewayWithUsers(t, { location })
  await addOrganization('club', ada)
  const made = await as('ada', 'POST', '/orgs/club/teams', { name: 'Workers' })
  t.equal(made.status, 201, made.text)
  isExpected(t, made.json, 'api/team-created')
  const path = `/teams/${(made.json as Fields)['id']}`
  t.strictSame((await as('ada', 'GET', path)).json, made.json)
  const changed = await as('ada', 'PATCH', path, {
    name: 'Crew',
    description: 'd',
    permission: 'write',
    can_create_org_repo: true,
    includes_all_repositories: true,
    units: ['repo.code', 'repo.pulls'],
  })
  t.match(changed, {
    status: 200,
    json: {
      name: 'Crew',
      description: 'd',
      permission: 'write',
      can_create_org_repo: true,
      includes_all_repositories: true,
      units_map: { 'repo.code': 'write', 'repo.pulls': 'write' },
    },
  })
  t.strictSame(
    (await as('ada', 'PATCH', path, {})).json,
    changed.json,
    'other fields are unchanged',
  )
  t.equal((await as('ada', 'POST', '/orgs/club/teams', { name: 'CREW' })).status, 422)
  const names = async (query: string) => {
    const { json } = await as('ada', 'GET', `/orgs/club/teams/search?${query}`)
    return (json as { data: Fields[] }).data.map(({ name }) => name)
  }
  t.strictSame(await names('q=OWN'), ['Owners'])
  t.strictSame(await names('q=d'), [])
  t.strictSame(await names('q=d&include_desc=true'), ['Crew'])
  t.match(await as('ada', 'GET', '/orgs/club/teams?limit=1&page=2'), {
    headers: { 'x-total-count': '2' },
    json: [{ name: 'Crew' }],
  })
  t.equal((await as('ada', 'DELETE', path)).status, 204)
  t.equal((await as('ada', 'GET', path)).status, 404)
})

await onOneDatabase(
  t,
  'the permission of a team on code is that of its unit code',
  async (t, location) => {
    const { as, addOrganization, ada } = await startGatewayWithUsers(t, { location })
    await addOrganization('club', ada)
    await as('ada', 'POST', '/orgs/club/repos', { name: 'r', private: true })
    const expected: readonly [object, string, number | string][] = [
      [{ permission: 'write', units: ['repo.packages'] }, 'write', 404],
      [{ permission: 'write', units: ['repo.issues'] }, 'write', 'none'],
      [{ permission: 'write', units: ['repo.code', 'repo.issues'] }, 'write', 'push'],
      [{ units_map: { 'repo.code': 'read', 'repo.issues': 'write' } }, 'read', 'pull'],
      [{ units_map: { 'repo.code': 'write', 'repo.issues': 'none' } }, 'write', 'push'],
      [{ units_map: { 'repo.code': 'none', 'repo.releases': 'read' } }, 'read', 'none'],
      [{ units_map: { 'repo.code': 'admin', 'repo.issues': 'read' } }, 'read', 'push'],
      [{ units_map: { 'repo.code': 'admin' } }, 'admin', 'admin'],
      [{ permission: 'admin', units: ['repo.issues'] }, 'admin', 'admin'],
      [{}, 'read', 'pull'],
    ]
    for (const [number, [body, permission, may]] of expected.entries()) {
      const name = `team ${number}`
      const made = await as('ada', 'POST', '/orgs/club/teams', { name, ...body })
      t.match(made.json, { permission }, JSON.stringify(body))
      const path = `/teams/${(made.json as Fields)['id']}`
      await as('ada', 'PUT', `${path}/members/bob`)
      await as('ada', 'PUT', `${path}/repos/club/r`)
      const { status, json } = await as('bob', 'GET', '/repos/club/r')
      if (typeof may === 'number') t.equal(status, may, name)
      else {
        const permissions = {
          admin: may === 'admin',
          push: may === 'push' || may === 'admin',
          pull: may !== 'none',
        }
        t.match(json, { permissions }, JSON.stringify(body))
      }
      await as('ada', 'DELETE', path)
    }
    for (const body of [
      { units: ['repo.x'] },
      { units_map: { 'repo.code': 'owner' } },
      { permission: 'owner' },
      { name: '' },
      { name: ' x' },
      { name: 7 },
    ]) {
      const refused = await as('ada', 'POST', '/orgs/club/teams', { name: 'x', ...body })
      t.equal(refused.status, 422, JSON.stringify(body))
    }
  },
)

await onOneDatabase(
  t,
  'a changed permission applies to the units that a team has',
  async (t, location) => {
    const { as, addOrganization, ada } = await startGatewayWithUsers(t, { location })
    await addOrganization('club', ada)
    const units = { 'repo.code': 'read', 'repo.packages': 'write', 'repo.wiki': 'none' }
    const made = await as('ada', 'POST', '/orgs/club/teams', { name: 'x', units_map: units })
    t.match(made.json, { permission: 'read', units: Object.keys(units), units_map: units })
    const path = `/teams/${(made.json as Fields)['id']}`
    const patched = async (body: object) => (await as('ada', 'PATCH', path, body)).json as Fields
    const isWith = async (body: object, permission: string, expected: object) => {
      const { permission: shown, units_map } = await patched(body)
      t.strictSame([shown, units_map], [permission, expected], JSON.stringify(body))
    }
    await isWith({ description: 'd' }, 'read', units)
    const write = { 'repo.code': 'write', 'repo.packages': 'write' }
    await isWith({ permission: 'write' }, 'write', write)
    await isWith({ units: ['repo.issues'] }, 'write', { 'repo.issues': 'write' })
    const every = Object.keys((await patched({ permission: 'admin' }))['units_map'] as object)
    t.ok(every.includes('repo.actions') && every.includes('repo.packages'), 'admins have all units')
    const code = { 'repo.code': 'read' }
    await isWith({ permission: 'read', units: ['repo.code'] }, 'read', code)
    const all = Object.fromEntries(every.map((name) => [name, 'read']))
    await isWith({ units: [] }, 'read', all)
  },
)

await onOneDatabase(
  t,
  "only the description of the owners' team can be changed",
  async (t, location) => {
    const { as, addOrganization, ada } = await startGatewayWithUsers(t, { location })
    await addOrganization('club', ada)
    const [owners] = (await as('ada', 'GET', '/orgs/club/teams')).json as [Fields]
    const path = `/teams/${owners['id']}`
    t.match(owners, { name: 'Owners', permission: 'owner' })
    const changed = await as('ada', 'PATCH', path, {
      name: 'Others',
      description: 'they run it',
      permission: 'read',
      units: [],
      includes_all_repositories: false,
    })
    t.strictSame(changed.json, { ...owners, description: 'they run it' })
    t.equal((await as('ada', 'DELETE', path)).status, 422)
  },
)

await onOneDatabase(
  t,
  'teams are visible to members of the organization only',
  async (t, location) => {
    const { as, ask, addToken, addOrganization, ada } = await startGatewayWithUsers(t, { location })
    for (const visibility of ['public', 'private'] as const) {
      await addOrganization(visibility, ada, visibility)
      const made = await as('ada', 'POST', `/orgs/${visibility}/teams`, { name: 'w' })
      const path = `/teams/${(made.json as Fields)['id']}`
      const list = `/orgs/${visibility}/teams`
      const unseen = visibility === 'private' ? 404 : 403
      t.equal((await as('bob', 'GET', path)).status, 404)
      t.equal((await as('bob', 'GET', list)).status, unseen)
      t.equal((await as('bob', 'GET', `${list}/search`)).status, unseen)
      t.equal((await as('bob', 'POST', list, { name: 'mine' })).status, unseen)
      t.equal((await as('anyone', 'GET', list)).status, 401)
      await as('ada', 'PUT', `${path}/members/bob`)
      t.match((await as('bob', 'GET', path)).json, {
        name: 'w',
        organization: { name: visibility },
      })
      t.equal((await as('bob', 'GET', list)).status, 200)
      t.equal((await as('bob', 'PATCH', path, { permission: 'admin' })).status, 403)
      t.equal((await as('bob', 'DELETE', path)).status, 403)
      const [owners] = (await as('bob', 'GET', list)).json as [Fields]
      const refused = await as('bob', 'GET', `/teams/${owners['id']}`)
      t.match(refused, { status: 403, json: { message: 'Must be a team member' } })
      const { plain } = await addToken(ada, 'public-only', 'all')
      for (const place of [path, list, `${path}/members`, '/user/teams']) {
        const answer = await ask({ path: `/api/v1${place}`, authorization: withToken(plain) })
        t.equal(answer.status, 403, place)
      }
    }
    const own = (await as('bob', 'GET', '/user/teams')).json as Fields[]
    t.strictSame(
      own.map(({ organization }) => (organization as Fields)['name']),
      ['public', 'private'],
    )
  },
)
