/** Organizations over the API: created, listed, changed, used and deleted. */

import t from 'tap'
import { onOneDatabase } from '../../../helpers/databases.js'
import { isExpected } from '../../../helpers/expected.js'
import {
  type GatewayWithUsers,
  type Name,
  refusal,
  startGatewayWithUsers,
  visible,
} from '../../../helpers/gateway-with-users.js'
import { withToken } from '../../../helpers/requests.js'

await onOneDatabase(t, 'an organization is created with every field', async (t, location) => {
  const { as } = await startGatewayWithUsers(t, { location })
  const made = await as('ada', 'POST', '/orgs', { username: 'Club' })
  t.equal(made.status, 201)
  isExpected(t, made.json, 'api/organization-created')
  const full = await as('ada', 'POST', '/orgs', {
    username: 'full',
    full_name: 'Füll',
    email: 'full@example.com',
    description: 'd',
    website: 'https://example.com',
    location: 'Paris',
    visibility: 'limited',
    repo_admin_change_team_access: true,
  })
  t.equal(full.status, 201)
  isExpected(t, full.json, 'api/organization-created-full')
  t.match((await as('ada', 'POST', '/orgs', { username: 'e', visibility: '' })).json, {
    visibility: 'public',
  })
})

await onOneDatabase(
  t,
  'an invalid organization is refused with the reason',
  async (t, location) => {
    const { as } = await startGatewayWithUsers(t, { location })
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
  },
)

/** Creates ada's organization with a team that bob is in. */
async function addClub(
  { addOrganization, db, ada, bob }: GatewayWithUsers,
  team: { readonly mayCreate: boolean; readonly visibility: 'public' | 'limited' | 'private' },
): Promise<void> {
  const { id } = await addOrganization('club', ada, team.visibility)
  const [teamId] = await db('teams').insert({
    organization_id: id,
    name: 'Workers',
    name_lower: 'workers',
    permission: 'write',
    includes_all_repositories: true,
    can_create_repositories: team.mayCreate,
  })
  await db('team_members').insert({ team_id: teamId, user_id: bob.id })
}

await onOneDatabase(
  t,
  'owners of an organization create repositories in it',
  async (t, location) => {
    const gateway = await startGatewayWithUsers(t, { location })
    const { as } = gateway
    await addClub(gateway, { mayCreate: false, visibility: 'public' })
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

await onOneDatabase(t, 'members create repositories if their team may', async (t, location) => {
  const gateway = await startGatewayWithUsers(t, { location })
  await addClub(gateway, { mayCreate: true, visibility: 'private' })
  const made = await gateway.as('bob', 'POST', '/orgs/club/repos', { name: 'work' })
  t.match(made, { status: 201, json: { internal: true, private: false } })
  t.equal((await gateway.as('anyone', 'GET', '/repos/club/work')).status, 404)
})

await onOneDatabase(
  t,
  'a private organization is reported as missing to others',
  async (t, location) => {
    const { as, ada, addOrganization } = await startGatewayWithUsers(t, { location })
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
    t.equal(
      (await as('anyone', 'GET', '/repos/limited/open')).status,
      404,
      'limited: no anonymous client',
    )
  },
)

await onOneDatabase(
  t,
  'organizations are listed for callers who may see them',
  async (t, location) => {
    const { as, ask, addToken, addOrganization, ada } = await startGatewayWithUsers(t, { location })
    for (const visibility of ['public', 'limited', 'private'] as const) {
      await addOrganization(visibility, ada, visibility)
    }
    const names = async (name: Name, path: string) => {
      const { json, headers } = await as(name, 'GET', path)
      const found = (json as { name: string }[]).map((organization) => organization.name)
      t.equal(headers['x-total-count'], String(found.length), path)
      return found.join(' ')
    }
    t.equal(await names('anyone', '/orgs'), 'public')
    t.equal(await names('bob', '/orgs'), 'public limited')
    t.equal(await names('ada', '/orgs'), 'public limited private')
    t.equal(await names('root', '/orgs'), 'public limited private')
    t.equal(await names('ada', '/user/orgs'), 'public limited private')
    t.equal(await names('bob', '/user/orgs'), '')
    t.equal(await names('ada', '/users/ada/orgs'), 'public limited private')
    t.equal(await names('bob', '/users/ada/orgs'), '', 'no organization is shown')
    for (const organization of ['limited', 'private']) {
      await as('ada', 'PUT', `/orgs/${organization}/public_members/ada`)
    }
    t.equal(await names('bob', '/users/ada/orgs'), 'limited')
    t.match(await as('ada', 'GET', '/user/orgs?limit=2&page=2'), { json: [{ name: 'private' }] })
    const { plain } = await addToken(ada, 'public-only', 'all')
    const limited = (path: string) =>
      ask({ path: `/api/v1${path}`, authorization: withToken(plain) })
    t.match((await limited('/orgs')).json, [{ name: 'public' }])
    t.equal((await limited('/orgs/private')).status, 403)
    t.equal((await limited('/user/orgs')).status, 403)
    t.equal((await limited('/users/ada/orgs')).status, 403)
  },
)

await onOneDatabase(t, 'an organization is read, changed and deleted', async (t, location) => {
  const { as, ada, addOrganization } = await startGatewayWithUsers(t, { location })
  await addOrganization('Club', ada)
  await addOrganization('den', ada, 'private')
  const read = await as('anyone', 'GET', '/orgs/club')
  t.match(read, { status: 200, json: { name: 'Club', username: 'Club', visibility: 'public' } })
  for (const path of ['/orgs/den', '/orgs/absent', '/orgs/ada']) {
    t.equal((await as('bob', 'GET', path)).status, 404, path)
    t.equal((await as('anyone', 'GET', path)).status, 404, path)
    t.equal((await as('bob', 'PATCH', path, { description: 'x' })).status, 404, path)
    t.equal((await as('bob', 'DELETE', path)).status, 404, path)
  }
  const refused = await as('bob', 'PATCH', '/orgs/club', { description: 'x' })
  t.match(refused, { status: 403, json: { message: 'Must be an organization owner' } })
  const changed = await as('ada', 'PATCH', '/orgs/club', {
    full_name: 'The Club',
    email: 'c@example.com',
    visibility: 'limited',
    location: 'here',
    repo_admin_change_team_access: true,
  })
  const fields = { full_name: 'The Club', email: 'c@example.com', visibility: 'limited' }
  t.match(changed.json, { name: 'Club', ...fields, repo_admin_change_team_access: true })
  t.strictSame((await as('ada', 'PATCH', '/orgs/club', {})).json, changed.json)
  t.equal((await as('ada', 'PATCH', '/orgs/club', { email: 'x' })).status, 422)
  t.equal((await as('ada', 'PATCH', '/orgs/club', { visibility: 'x' })).status, 422)
  t.match((await as('ada', 'PATCH', '/orgs/club', { email: '' })).json, { email: '' })
  t.equal(
    (await as('anyone', 'GET', '/orgs/club')).status,
    404,
    'the limited visibility applies immediately',
  )

  await as('ada', 'POST', '/orgs/club/repos', { name: 'r' })
  t.equal((await as('ada', 'DELETE', '/orgs/club')).status, 422, 'while it owns a repository')
  await as('ada', 'DELETE', '/repos/club/r')
  t.equal((await as('bob', 'DELETE', '/orgs/club')).status, 403)
  t.equal((await as('ada', 'DELETE', '/orgs/club')).status, 204)
  t.equal((await as('ada', 'GET', '/orgs/club')).status, 404)
  t.equal((await as('ada', 'POST', '/orgs', { username: 'club' })).status, 201)
})

await onOneDatabase(t, 'members read their permissions in an organization', async (t, location) => {
  const gateway = await startGatewayWithUsers(t, { location })
  const { as } = gateway
  await addClub(gateway, { mayCreate: true, visibility: 'limited' })
  const of = (name: string) => `/users/${name}/orgs/club/permissions`
  const all = { is_owner: true, is_admin: true, can_write: true, can_read: true }
  t.strictSame((await as('ada', 'GET', of('ada'))).json, { ...all, can_create_repository: true })
  t.strictSame((await as('ada', 'GET', of('bob'))).json, {
    is_owner: false,
    is_admin: false,
    can_write: true,
    can_read: true,
    can_create_repository: true,
  })
  t.equal((await as('root', 'GET', of('bob'))).status, 200)
  t.equal((await as('anyone', 'GET', of('bob'))).status, 401)
  await as('ada', 'DELETE', '/orgs/club/members/bob')
  t.match((await as('bob', 'GET', of('bob'))).json, { can_read: false })
  t.equal((await as('bob', 'GET', of('ada'))).status, 403)
  await as('ada', 'PATCH', '/orgs/club', { visibility: 'private' })
  t.equal((await as('bob', 'GET', of('bob'))).status, 404)
})
