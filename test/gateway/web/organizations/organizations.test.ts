/** Pages of organizations and teams: visibility and permissions. */

import t, { type Test } from 'tap'
import { organizationRole } from '../../../../sql/organizations/organizations.js'
import { findTeamByName, updateTeam } from '../../../../sql/organizations/teams.js'
import { startWebGateway, type Visitor } from '../../../helpers/visitors.js'

const DETAILS = {
  full_name: 'The club',
  description: 'of books',
  website: '',
  location: '',
  visibility: 'public',
}

/** Creates ada's club with bob alone in the team crew; eve is not a member. */
async function aClub(t: Test, visibility = 'public') {
  const gateway = await startWebGateway(t)
  const { addUser, signIn } = gateway
  const [ada, bob, eve] = [await addUser('ada'), await addUser('bob'), await addUser('eve')]
  const by = { ada: await signIn('ada'), bob: await signIn('bob'), eve: await signIn('eve') }
  const made = await by.ada.post('/org/create', { ...DETAILS, name: 'club', visibility })
  t.equal(made.headers.location, '/club')
  const team = { name: 'The crew', permission: 'write', description: '' }
  const led = await by.ada.post('/org/club/teams/new', team)
  t.equal(led.headers.location, '/org/club/teams/The%20crew')
  await by.ada.post('/org/club/teams/The%20crew/members', { name: 'bob' })
  const roleOf = async (user: { readonly id: number }) => {
    const [{ id }] = await gateway.db('owners').where({ name_lower: 'club' })
    return await organizationRole(gateway.db, id, user.id)
  }
  return { ...gateway, ...by, people: { ada, bob, eve }, roleOf }
}

const UNITS = { 'repo.code': 'read', 'repo.packages': 'write' }
const CREW = '/org/club/teams/The%20crew'

const PAGES = [
  ...(['/org/club/members', '/org/club/teams', CREW] as const),
  ...(['/org/club/teams/new', '/org/club/settings', `${CREW}/settings`] as const),
]

/** Returns the status of each page for a visitor, in the order of PAGES. */
async function statuses(visitor: Visitor) {
  const found: number[] = []
  for (const path of PAGES) found.push((await visitor.get(path)).status)
  return found
}

t.test('an organization is created by its form, which is shown again with errors', async (t) => {
  const { ada, ask } = await aClub(t)
  t.match((await ada.get('/')).text, /href="[^"]*\/org\/create"/)
  t.match((await ada.get('/user/settings/organizations')).text, /\/club".*The club/s)
  for (const [fields, sentence] of [
    [{ name: 'Club' }, /already taken/],
    [{ name: 'org' }, /is reserved/],
    [{ name: 'a b' }, /starts with a letter/],
    [{ name: 'other', description: 'x'.repeat(256) }, /more than 255 characters/],
    [{ name: 'other', visibility: '' }, /Choose a visibility/],
  ] as const) {
    const answer = await ada.post('/org/create', { ...DETAILS, ...fields })
    t.match(answer, { status: 422, text: sentence })
    t.match(answer.text, /value="The club"/)
  }
  t.equal((await ask({ path: '/org/create' })).status, 303, 'anonymous visitors sign in')
})

t.test('pages of an organization follow its visibility, and a private one is 404', async (t) => {
  const { ada, bob, eve, visitor } = await aClub(t)
  const anonymous = visitor({})
  t.strictSame(await statuses(ada), [200, 200, 200, 200, 200, 200])
  t.strictSame(await statuses(bob), [200, 200, 200, 403, 403, 403])
  t.strictSame(await statuses(eve), [200, 403, 404, 403, 403, 404], 'a user without a team')
  t.strictSame(await statuses(anonymous), [200, 303, 303, 303, 303, 303])
  t.match((await ada.get('/club')).text, /club\/members.*club\/teams.*club\/settings/s)
  t.notMatch((await bob.get('/club')).text, /club\/settings/)
  t.notMatch((await eve.get('/club')).text, /club\/teams/)
  await ada.post('/org/club/settings', { ...DETAILS, visibility: 'private' })
  t.strictSame(await statuses(bob), [200, 200, 200, 403, 403, 403])
  t.strictSame(await statuses(eve), [404, 404, 404, 404, 404, 404])
  t.equal((await anonymous.get('/org/club/members')).status, 404)
})

t.test('users who are not owners change nothing', async (t) => {
  const { bob, eve, db, roleOf, people } = await aClub(t)
  const { id } = people.ada
  for (const visitor of [bob, eve]) {
    for (const [path, fields] of [
      ['/org/club/members/remove', { name: 'ada' }],
      ['/org/club/teams/new', { name: 'mine', permission: 'admin' }],
      [`${CREW}/members`, { name: 'eve' }],
      [`${CREW}/members/remove`, { name: 'bob' }],
      [`${CREW}/repositories`, { name: 'r' }],
      [`${CREW}/settings`, { name: 'x', permission: 'admin' }],
      [`${CREW}/settings/delete`, { confirm: 'The crew' }],
      ['/org/club/teams/Owners/members', { name: 'eve' }],
      ['/org/club/settings', { ...DETAILS, visibility: 'private' }],
      ['/org/club/settings/delete', { confirm: 'club' }],
      ['/org/club/settings/rename', { new_name: 'other' }],
      ['/org/club/settings/blocked_users', { name: 'carol' }],
      ['/org/club/settings/blocked_users/remove', { name: 'carol' }],
    ] as const) {
      const { status } = await visitor.post(path, fields)
      t.ok(status === 403 || status === 404, `${path} ${status}`)
    }
  }
  t.equal(await roleOf({ id }), 'owner')
  t.equal(await roleOf(people.bob), 'member')
  t.equal(await roleOf(people.eve), 'none')
  t.match(await db('owners').where({ name_lower: 'club' }), [{ visibility: 'public' }])
})

t.test(
  'members publish their membership, leave and are removed; the last owner is kept',
  async (t) => {
    const { ada, bob, eve, roleOf, people } = await aClub(t)
    const path = '/org/club/members'
    t.notMatch((await eve.get(path)).text, /\/bob"/, 'the membership is not public yet')
    t.equal((await bob.post(`${path}/show`, { public: 'yes' })).status, 303)
    t.match((await eve.get(path)).text, /\/bob"/)
    await bob.post(`${path}/show`, { public: 'no' })
    t.notMatch((await eve.get(path)).text, /\/bob"/)
    t.equal((await eve.post(`${path}/show`, { public: 'yes' })).status, 403)
    t.equal((await eve.post(`${path}/leave`, {})).status, 403)
    const last = /The last owner of an organization cannot leave it/
    t.match(await ada.post(`${path}/leave`, {}), { status: 422, text: last })
    t.match(await ada.post(`${path}/remove`, { name: 'ada' }), { status: 422, text: last })
    t.match(await ada.post('/org/club/teams/Owners/members/remove', { name: 'ada' }), {
      status: 422,
      text: last,
    })
    t.equal(await roleOf(people.ada), 'owner')
    t.match(await ada.post(`${path}/remove`, { name: 'eve' }), {
      status: 404,
      text: /no user or organization/,
    })
    t.equal((await bob.post(`${path}/leave`, {})).status, 303)
    t.equal(await roleOf(people.bob), 'none')
    await ada.post('/org/club/teams/Owners/members', { name: 'bob' })
    t.equal((await ada.post(`${path}/leave`, {})).status, 303, 'there is another owner')
    t.equal(await roleOf(people.bob), 'owner')
  },
)

t.test('a team has members and repositories by name, of its organization only', async (t) => {
  const { ada, bob, addToken, ask, people, db, roleOf } = await aClub(t)
  const authorization = `token ${(await addToken(people.ada, 'all')).plain}`
  const body = { name: 'shelf', private: true }
  await ask({ method: 'POST', path: '/api/v1/orgs/club/repos', authorization, body })
  await ada.post('/repo/create', { name: 'own', private: 'on' })
  t.equal((await bob.get('/club/shelf')).status, 404)
  t.equal((await ada.post(`${CREW}/repositories`, { name: 'shelf' })).status, 303)
  t.equal((await bob.get('/club/shelf')).status, 200)
  t.match((await bob.get(CREW)).text, /\/club\/shelf"/)
  const [club] = await db('owners').where({ name_lower: 'club' })
  const crew = await findTeamByName(db, club.id, 'The crew')
  await updateTeam(db, crew?.id ?? 0, { units: { 'repo.issues': 'read' } })
  const { status, headers } = await bob.get('/club/shelf')
  t.strictSame([status, headers.location], [303, '/club/shelf/issues'])
  const tabs = (await bob.get('/club/shelf/issues')).text
  t.notMatch(tabs, />(?:Code|Commits|Pull requests|Releases|Actions)</, 'only the tab of issues')
  t.match(tabs, />Issues</)
  await updateTeam(db, crew?.id ?? 0, { units: {} })
  for (const name of ['own', 'none', '../ada/own', '']) {
    t.match(await ada.post(`${CREW}/repositories`, { name }), {
      status: 404,
      text: /no repository with this name/,
    })
  }
  t.equal((await ada.post(`${CREW}/repositories/remove`, { name: 'shelf' })).status, 303)
  t.equal((await bob.get('/club/shelf')).status, 404)
  t.match(await ada.post(`${CREW}/members`, { name: 'nobody' }), {
    status: 404,
    text: /There is no user or organization with this name/,
  })
  t.equal((await ada.post(`${CREW}/members/remove`, { name: 'bob' })).status, 303)
  t.equal(await roleOf(people.bob), 'none')
  const settings = { name: 'Staff', permission: 'read', all: 'on', description: 'all of <b>' }
  const led = await ada.post(`${CREW}/settings`, settings)
  t.equal(led.headers.location, '/org/club/teams/Staff')
  t.match((await ada.get('/org/club/teams/staff')).text, /access to all repositories/)
  const unitsOf = async () => (await findTeamByName(db, club.id, 'Staff'))?.units
  await updateTeam(db, (await findTeamByName(db, club.id, 'Staff'))?.id ?? 0, { units: UNITS })
  const shown = /code: read, packages: write/
  for (const path of ['', '/Staff', '/Staff/settings']) {
    t.match((await ada.get(`/org/club/teams${path}`)).text, shown, path)
  }
  await ada.post('/org/club/teams/Staff/settings', settings)
  t.strictSame(await unitsOf(), UNITS, 'units set over the API are kept with the permission')
  await ada.post('/org/club/teams/Staff/settings', { ...settings, permission: 'write' })
  t.strictSame(await unitsOf(), {})
  for (const [fields, sentence] of [
    [{ name: 'owners' }, /already exists/],
    [{ name: 'New' }, /is reserved/],
    [{ name: '<b>' }, /team&#39;s name|team's name/],
    [{ name: 'x', permission: 'owner' }, /Choose a permission/],
  ] as const) {
    const answer = await ada.post('/org/club/teams/new', { ...settings, ...fields })
    t.match(answer, { status: 422, text: sentence })
    t.match(answer.text, /value="all of &lt;b>"/)
  }
  await ada.post('/org/club/teams/Owners/settings', { ...settings, name: 'Weak' })
  t.match(await findTeamByName(db, club.id, 'Owners'), {
    permission: 'owner',
    description: 'all of <b>',
  })
  const path = '/org/club/teams/Staff/settings/delete'
  t.match(await ada.post(path, { confirm: 'staff' }), { status: 422, text: /Not confirmed/ })
  t.equal((await ada.post(path, { confirm: 'Staff' })).status, 303)
  t.equal(await findTeamByName(db, club.id, 'Staff'), undefined)
  const owners = '/org/club/teams/Owners/settings/delete'
  t.match(await ada.post(owners, { confirm: 'Owners' }), { status: 422, text: /cannot be deleted/ })
})

t.test('an organization is changed, and deleted when its name is typed', async (t) => {
  const { ada, addToken, ask, people } = await aClub(t)
  const path = '/org/club/settings'
  t.equal((await ada.post(path, { ...DETAILS, full_name: 'Another' })).status, 303)
  t.match((await ada.get('/club')).text, /Another/)
  t.match(await ada.post(path, { ...DETAILS, location: 'x'.repeat(51) }), { status: 422 })
  t.match(await ada.post(`${path}/delete`, { confirm: '' }), { status: 422, text: /Type club/ })
  const authorization = `token ${(await addToken(people.ada, 'all')).plain}`
  const made = { path: '/api/v1/orgs/club/repos', body: { name: 'shelf' } }
  await ask({ method: 'POST', authorization, ...made })
  t.match(await ada.post(`${path}/delete`, { confirm: 'club' }), {
    status: 422,
    text: /still owns repositories or packages/,
  })
  await ask({ method: 'DELETE', path: '/api/v1/repos/club/shelf', authorization })
  t.equal((await ada.post(`${path}/delete`, { confirm: 'club' })).status, 303)
  t.equal((await ada.get('/club')).status, 404)
})

t.test('a repository is created for owners for which the user may create one', async (t) => {
  const { ada, bob, eve } = await aClub(t)
  const path = '/repo/create'
  t.match((await ada.get(`${path}?owner=club`)).text, /value="club" selected/)
  t.notMatch((await bob.get(path)).text, /value="club"/)
  t.match((await ada.get('/club')).text, /\/repo\/create\?owner=club/)
  t.notMatch((await bob.get('/club')).text, /\/repo\/create\?owner=club/)
  const made = await ada.post(path, { owner: 'club', name: 'shelf', private: 'on' })
  t.equal(made.headers.location, '/club/shelf')
  t.equal((await bob.post(path, { owner: 'club', name: 'other' })).status, 403)
  await ada.post('/org/club/settings', { ...DETAILS, visibility: 'private' })
  t.equal((await eve.post(path, { owner: 'club', name: 'other' })).status, 404)
  t.equal((await eve.post(path, { owner: 'bob', name: 'other' })).status, 403)
  t.equal((await eve.post(path, { name: 'own' })).headers.location, '/eve/own')
})

t.test('owners block users and rename their organization, and users block others', async (t) => {
  const { ada, bob, eve, addToken, people, ask } = await aClub(t)
  const authorization = `token ${(await addToken(people.ada, 'all')).plain}`
  const isBlocked = async (place: string) =>
    (await ask({ path: `/api/v1${place}/blocks/eve`, authorization })).status === 204
  for (const [path, place] of [
    ['/user/settings/blocked_users', '/user'],
    ['/org/club/settings/blocked_users', '/orgs/club'],
  ] as const) {
    t.match((await ada.get(path)).text, /There are no visible users/)
    t.equal((await ada.post(path, { name: 'eve' })).headers.location, path)
    t.ok(await isBlocked(place), path)
    t.match((await ada.get(path)).text, /aria-label="Remove eve"/)
    t.match(await ada.post(path, { name: 'eve' }), { status: 400, text: /cannot block the user/ })
    t.match(await ada.post(path, { name: 'nobody' }), { status: 404, text: /There is no user/ })
    t.equal((await ada.post(`${path}/remove`, { name: 'eve' })).status, 303)
    t.notOk(await isBlocked(place), path)
  }
  t.equal((await bob.get('/org/club/settings/blocked_users')).status, 403)
  t.equal((await eve.get('/org/none/settings/blocked_users')).status, 404)

  const rename = '/org/club/settings/rename'
  t.match(await ada.post(rename, { new_name: 'ada' }), { status: 422, text: /already taken/ })
  const renamed = await ada.post(rename, { new_name: 'circle' })
  t.equal(renamed.headers.location, '/org/circle/settings')
  t.equal((await ada.get('/org/circle/settings')).status, 200)
})
