/** Organizations over the API, on both databases: made, and what their people may make in them. */

import t from 'tap'
import { forEachDatabase } from '../../../helpers/databases.js'
import { isExpected } from '../../../helpers/expected.js'
import { refusal, startTown, type Town, visible } from '../../../helpers/town.js'

await forEachDatabase(t, 'an organization is made with every field', async (t, location) => {
  const { as } = await startTown(t, { location })
  const made = await as('ada', 'POST', '/orgs', { username: 'Club' })
  t.equal(made.status, 201)
  isExpected(t, made.json, 'api/organization-created')
  const full = await as('ada', 'POST', '/orgs', {
    ...{ username: 'full', full_name: 'Füll', email: 'full@example.com', description: 'd' },
    ...{ website: 'https://example.com', location: 'Paris', visibility: 'limited' },
    repo_admin_change_team_access: true,
  })
  t.equal(full.status, 201)
  isExpected(t, full.json, 'api/organization-created-full')
  t.match((await as('ada', 'POST', '/orgs', { username: 'e', visibility: '' })).json, {
    visibility: 'public',
  })
})

await forEachDatabase(t, 'a bad organization is refused by what is wrong', async (t, location) => {
  const { as } = await startTown(t, { location })
  const refused = async (body: unknown, message: string | RegExp) => {
    const { status, json, text } = await as('ada', 'POST', '/orgs', body)
    t.equal(status, 422, `${JSON.stringify(body)}: ${text}`)
    t.match(json, { message })
  }
  await refused({}, '[UserName]: Required')
  await refused({ username: '' }, '[UserName]: Required')
  await refused({ username: 'x', visibility: 'secret' }, /^\[Visibility\]: /)
  await refused({ username: 'x', full_name: 7 }, /^\[FullName\]: /)
  await refused({ username: 'x', email: 'nowhere' }, /e-mail/)
  for (const username of ['ADA', 'bob']) await refused({ username }, /already taken/)
  for (const username of ['api', 'a/b', '-x', 'x--y', 'swagger.v1.json', 'x'.repeat(41)]) {
    await refused({ username }, /name|^\[UserName\]/i)
  }
})

/** An organization of ada's, with bob in a team of it. */
async function addClub(
  { addOrganization, db, ada, bob }: Town,
  team: { readonly mayCreate: boolean; readonly visibility: 'public' | 'limited' | 'private' },
): Promise<void> {
  const { id } = await addOrganization('club', ada, team.visibility)
  const [teamId] = await db('teams').insert({
    ...{ organization_id: id, name: 'Workers', name_lower: 'workers', permission: 'write' },
    ...{ includes_all_repositories: true, can_create_repositories: team.mayCreate },
  })
  await db('team_members').insert({ team_id: teamId, user_id: bob.id })
}

await forEachDatabase(
  t,
  'owners of an organization make repositories in it',
  async (t, location) => {
    const town = await startTown(t, { location })
    const { as } = town
    await addClub(town, { mayCreate: false, visibility: 'public' })
    const made = await as('ada', 'POST', '/orgs/CLUB/repos', { name: 'Shared', private: true })
    t.equal(made.status, 201)
    isExpected(t, made.json, 'api/repository-of-organization')
    t.equal((await as('root', 'POST', '/orgs/club/repos', { name: 'by-root' })).status, 201)
    t.equal((await as('ada', 'POST', '/orgs/club/repos', { name: 'shared' })).status, 409)
    t.equal((await as('ada', 'POST', '/orgs/club/repos', {})).status, 422)
    const forbidden = await as('bob', 'POST', '/orgs/club/repos', { name: 'mine' })
    t.equal(forbidden.status, 403)
    t.strictSame(
      forbidden.json,
      refusal('Given user is not allowed to create repository in organization.'),
    )
    t.match((await as('bob', 'GET', '/repos/club/shared')).json, {
      permissions: { admin: false, push: true, pull: true },
    })
    t.match((await as('bob', 'GET', '/user/repos')).json, [{ name: 'Shared' }, { name: 'by-root' }])
    t.equal((await as('bob', 'DELETE', '/repos/club/shared')).status, 403)
    t.equal((await as('anyone', 'GET', '/repos/club/shared')).status, 404)
    t.equal((await as('ada', 'DELETE', '/repos/club/shared')).status, 204)
  },
)

await forEachDatabase(t, 'members may where their team may', async (t, location) => {
  const town = await startTown(t, { location })
  await addClub(town, { mayCreate: true, visibility: 'private' })
  const made = await town.as('bob', 'POST', '/orgs/club/repos', { name: 'work' })
  t.match(made, { status: 201, json: { internal: true, private: false } })
  t.equal((await town.as('anyone', 'GET', '/repos/club/work')).status, 404)
})

await forEachDatabase(t, 'a private organization is missing to strangers', async (t, location) => {
  const { as, ada, addOrganization } = await startTown(t, { location })
  for (const [visibility, status] of [['public', 403] as const, ['limited', 403] as const]) {
    await addOrganization(visibility, ada, visibility)
    const answer = await as('bob', 'POST', `/orgs/${visibility}/repos`, { name: 'x' })
    t.equal(answer.status, status, visibility)
  }
  await addOrganization('hidden', ada, 'private')
  const hidden = await as('bob', 'POST', '/orgs/hidden/repos', { name: 'x' })
  t.equal(hidden.status, 404)
  for (const name of ['absent', 'ada', '%00', 'a%2Fb']) {
    const missing = await as('bob', 'POST', `/orgs/${name}/repos`, { name: 'x' })
    t.strictSame(visible(missing), visible(hidden), name)
  }
  const anonymous = await as('anyone', 'POST', '/orgs/hidden/repos', { name: 'x' })
  t.equal(anonymous.status, 401)

  await as('ada', 'POST', '/orgs/limited/repos', { name: 'open' })
  t.equal((await as('bob', 'GET', '/repos/limited/open')).status, 200, 'limited: any account')
  t.equal((await as('anyone', 'GET', '/repos/limited/open')).status, 404, 'limited: no stranger')
})
