/** The audit log: entries of requests, and who reads them over the API and on pages. */

import t from 'tap'
import { beginAuditEntry } from '../../../sql/admin/audit.js'
import { BASE_URL } from '../../helpers/gateway.js'
import { startGatewayWithUsers } from '../../helpers/gateway-with-users.js'
import { aKeyLine } from '../../helpers/ssh-keys.js'
import { postForm, signIn } from '../../helpers/web-forms.js'

interface Entry {
  readonly action: string
  readonly subject: string
}

const gateway = await startGatewayWithUsers(t)
const { as, ask, db, ada } = gateway
const listed = async (name: 'ada' | 'bob' | 'root', path: string) =>
  (await as(name, 'GET', path)).json as readonly Entry[]

t.test('an entry has actor, token, address, subject and details without secrets', async (t) => {
  const key = aKeyLine()
  const title = 'laptop of ada'
  t.equal((await as('ada', 'POST', '/user/keys', { title, key, read_only: true })).status, 201)
  const [entry] = await listed('ada', '/user/audit')
  t.match(entry, {
    action: 'ssh_key.create',
    actor: 'ada',
    actor_id: ada.id,
    credential: 'token',
    token_id: Number,
    sudo_by: '',
    address: '127.0.0.1',
    subject: 'ada',
    details: `title=${title}, key, read_only=true`,
    is_complete: true,
  })
  t.notMatch(JSON.stringify(entry), key.split(' ')[1])
})

t.test('a form of a page is recorded with its session, and its password is not', async (t) => {
  const cookie = await signIn(gateway, 'root')
  const password = 'a long secret password'
  const fields = { user_name: 'carl', email: 'carl@example.com', password }
  t.ok((await postForm(gateway, '/admin/users', fields, { cookie })).status < 400)
  const [entry] = await listed('root', '/admin/audit')
  t.match(entry, { action: 'user.create', actor: 'root', credential: 'session' })
  t.match(entry, { details: 'user_name=carl, email, password' })
})

t.test('an administrator who acts as another user is named', async (t) => {
  t.equal((await as('root', 'POST', '/user/repos?sudo=ada', { name: 'r' })).status, 201)
  const [entry] = await listed('ada', '/user/audit')
  t.match(entry, { action: 'repository.create', actor: 'ada', sudo_by: 'root', details: 'name=r' })
})

t.test('a refused request leaves no entry; one that did not end leaves one', async (t) => {
  const count = async () => (await listed('root', '/admin/audit')).length
  const before = await count()
  t.equal((await as('ada', 'POST', '/user/keys', { title: 'k', key: 'no key' })).status, 422)
  t.equal((await as('ada', 'POST', '/user/repos', { name: 'r' })).status, 409)
  t.equal((await as('bob', 'DELETE', '/repos/ada/r')).status, 403)
  t.equal(await count(), before)
  const facts = { actorId: ada.id, actorName: 'ada', credential: 'token', ownerId: ada.id }
  const id = await beginAuditEntry(db, { ...facts, action: 'token.delete', subject: 'ada' })
  t.match(await listed('ada', '/user/audit'), [{ id, is_complete: false }])
})

t.test('a user reads the entries of the own account and repositories only', async (t) => {
  await as('ada', 'PUT', '/repos/ada/r/collaborators/bob', { permission: 'admin' })
  await as('bob', 'POST', '/repos/ada/r/branch_protections', { rule_name: 'main' })
  t.match(await listed('ada', '/user/audit?limit=2'), [
    { action: 'branch_protection.create', actor: 'bob', details: 'rule_name=main' },
    { action: 'collaborator.change', details: 'collaborator=bob, permission=admin' },
  ])
  t.strictSame(await listed('bob', '/user/audit'), [])
  t.equal((await as('ada', 'GET', '/admin/audit')).status, 403)
  await as('ada', 'POST', '/orgs', { username: 'club' })
  await as('ada', 'PATCH', '/orgs/club', { description: 'd' })
  t.match(await listed('ada', '/orgs/club/audit'), [{ action: 'organization.change' }])
  t.equal((await as('bob', 'GET', '/orgs/club/audit')).status, 403)
  t.equal((await as('bob', 'GET', '/orgs/absent/audit')).status, 404)
})

t.test('entries are filtered by actor, action and time', async (t) => {
  const actionsOf = async (query: string) =>
    (await listed('root', `/admin/audit?${query}`)).map(({ action }) => action)
  t.strictSame(await actionsOf('actor=BOB'), ['branch_protection.create'])
  t.strictSame(await actionsOf('action=branch_protection'), ['branch_protection.create'])
  t.strictSame(await actionsOf('action=branch'), [])
  t.strictSame(await actionsOf('action=user.create'), ['user.create'])
  t.strictSame(await actionsOf('before=2020-01-01T00:00:00Z'), [])
  t.ok((await actionsOf('since=2020-01-01T00:00:00Z')).length > 5)
  const { headers } = await as('root', 'GET', '/admin/audit?limit=1&actor=ada')
  t.match(headers['link'], `<${BASE_URL}/api/v1/admin/audit?actor=ada&limit=1&page=2>; rel="next"`)
})

t.test('pages show the same entries to their readers', async (t) => {
  const cookie = await signIn(gateway, 'ada')
  const see = async (path: string, from = cookie) => await ask({ path, headers: { cookie: from } })
  const own = (await see('/user/settings/audit?action=ssh_key')).text
  t.match(own, /ssh_key\.create[\s\S]*title=laptop of ada/)
  t.notMatch(own, /repository\.create/)
  t.match((await see('/org/club/settings/audit')).text, /organization\.change/)
  t.equal((await see('/admin/audit')).status, 404)
  t.match((await see('/admin/audit', await signIn(gateway, 'root'))).text, /user\.create/)
  t.equal((await see('/org/club/settings/audit', await signIn(gateway, 'bob'))).status, 403)
})
