/** Tag protection rules over the API, and their effect on tags and releases of the API. */

import t from 'tap'
import { startGatewayWithPull } from '../../../helpers/pulls.js'

const PATH = '/tag_protections'

t.test('a rule of tags is created, read, changed in part, and deleted', async (t) => {
  const { of } = await startGatewayWithPull(t)
  const sent = { name_pattern: ' v* ', whitelist_usernames: ['BOB', 'ada'], whitelist_teams: ['x'] }
  const made = await of('ada', 'POST', PATH, sent)
  const rule = { name_pattern: 'v*', whitelist_usernames: ['bob', 'ada'], whitelist_teams: [] }
  t.match(made, { status: 201, json: rule }, 'repositories of users have no teams')
  const { id } = made.json as { id: number }
  const at = `${PATH}/${id}`
  t.match(await of('ada', 'GET', at), { status: 200, json: { id, ...rule } })
  const patch = { name_pattern: 'v*-rc', whitelist_usernames: ['ada'], whitelist_teams: null }
  const changed = { ...rule, name_pattern: 'v*-rc', whitelist_usernames: ['ada'] }
  t.match(await of('ada', 'PATCH', at, patch), { status: 200, json: changed })
  t.match(await of('ada', 'PATCH', at, {}), { status: 200, json: changed })
  t.match((await of('ada', 'GET', PATH)).json, [changed])
  for (const method of ['GET', 'PATCH', 'DELETE']) {
    t.equal((await of('ada', method, `${PATH}/${id + 1}`, {})).status, 404, method)
    t.equal((await of('ada', method, `${PATH}/x`, {})).status, 404, method)
  }
  t.equal((await of('bob', 'GET', PATH)).status, 403, 'only administrators read rules')
  t.equal((await of('ada', 'DELETE', at)).status, 204)
  t.same((await of('ada', 'GET', PATH)).json, [])
})

t.test('an invalid rule of tags is refused and not stored', async (t) => {
  const { of } = await startGatewayWithPull(t)
  const whitelist_usernames = ['ada']
  await of('ada', 'POST', PATH, { name_pattern: 'v*', whitelist_usernames })
  const cases: readonly (readonly [number, object])[] = [
    [403, { name_pattern: 'v*', whitelist_usernames }],
    [400, { name_pattern: ' ', whitelist_usernames }],
    [400, { whitelist_usernames }],
    [400, { name_pattern: 'x' }],
    [422, { name_pattern: 'x', whitelist_usernames: ['nobody'] }],
    [422, { name_pattern: 'a[', whitelist_usernames }],
    [422, { name_pattern: '/a(/', whitelist_usernames }],
    [422, { name_pattern: '/a)|(b/', whitelist_usernames }],
    [422, { name_pattern: 'x\ny', whitelist_usernames }],
    [422, { name_pattern: '*a'.repeat(9), whitelist_usernames }],
    [422, { name_pattern: 'x'.repeat(256), whitelist_usernames }],
  ]
  for (const [status, body] of cases) {
    const { status: found, text } = await of('ada', 'POST', PATH, body)
    t.equal(found, status, `${JSON.stringify(body)}: ${text}`)
  }
  t.match((await of('ada', 'GET', PATH)).json, { length: 1 })
  const id = ((await of('ada', 'GET', PATH)).json as { id: number }[])[0]?.id
  t.equal((await of('ada', 'PATCH', `${PATH}/${id}`, { name_pattern: '' })).status, 400)
})

t.test('the API applies the rules of tags to tags and releases', async (t) => {
  const { of, as } = await startGatewayWithPull(t)
  await of('ada', 'PUT', '/collaborators/bob', { permission: 'write' })
  const rule = { name_pattern: '/^v[0-9]/', whitelist_usernames: ['bob'] }
  t.equal((await of('ada', 'POST', PATH, rule)).status, 201)
  const refused = { status: 422, json: { message: /^Tag v1 is protected$/ } }
  t.match(await of('ada', 'POST', '/tags', { tag_name: 'v1' }), refused)
  t.match(await of('ada', 'POST', '/releases', { tag_name: 'v1' }), refused)
  t.same((await of('ada', 'GET', '/releases')).json, [], 'no release is left')
  t.equal((await of('ada', 'POST', '/tags', { tag_name: 'w1' })).status, 201)
  t.equal((await of('bob', 'POST', '/tags', { tag_name: 'v1' })).status, 201)
  t.match(await of('ada', 'DELETE', '/tags/v1'), refused)
  const release = await of('ada', 'POST', '/releases', { tag_name: 'v1' })
  t.equal(release.status, 201, 'a release of a tag that exists does not change the tag')
  t.equal((await of('bob', 'POST', '/releases', { tag_name: 'v2' })).status, 201)
  t.equal((await as('bob', 'GET', `/repos/ada/r${PATH}`)).status, 403)
})

t.test('members of a team that a rule of tags lists can create its tags', async (t) => {
  const { as } = await startGatewayWithPull(t)
  await as('ada', 'POST', '/orgs', { username: 'club' })
  await as('ada', 'POST', '/orgs/club/repos', { name: 'r', auto_init: true })
  const crew = { permission: 'write', includes_all_repositories: true, units: ['repo.code'] }
  const team = await as('ada', 'POST', '/orgs/club/teams', { name: 'Crew', ...crew })
  const { id } = team.json as { id: number }
  await as('ada', 'PUT', `/teams/${id}/members/bob`)
  const rule = { name_pattern: 'v*', whitelist_teams: ['crew'] }
  const made = await as('ada', 'POST', `/repos/club/r${PATH}`, rule)
  t.match(made, { status: 201, json: { whitelist_teams: ['Crew'] } })
  const unknown = { name_pattern: 'w*', whitelist_teams: ['nobody'] }
  t.equal((await as('ada', 'POST', `/repos/club/r${PATH}`, unknown)).status, 422)
  t.equal((await as('ada', 'POST', '/repos/club/r/tags', { tag_name: 'v1' })).status, 422)
  t.equal((await as('bob', 'POST', '/repos/club/r/tags', { tag_name: 'v1' })).status, 201)
})
