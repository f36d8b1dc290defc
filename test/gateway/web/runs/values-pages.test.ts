/** Pages of secrets and variables: effects of the forms, and access, in each scope. */

import t, { type Test } from 'tap'
import { findValue, type ValueScope } from '../../../../sql/runs/scoped-values.js'
import { startGatewayWithUsers } from '../../../helpers/gateway-with-users.js'
import { postForm, signIn } from '../../../helpers/web-forms.js'

const SECRET = 'very secret value'

async function openFixture(t: Test) {
  const gateway = await startGatewayWithUsers(t)
  const { ada, as, ask } = gateway
  const club = await gateway.addOrganization('club', ada)
  const made = await as('ada', 'POST', '/user/repos', { name: 'r' })
  await as('ada', 'PATCH', '/repos/ada/r', { has_actions: true })
  await as('ada', 'PUT', '/repos/ada/r/collaborators/bob', { permission: 'write' })
  const scopes: ReadonlyArray<readonly [path: string, user: string, scope: ValueScope]> = [
    ['/ada/r/settings/actions', 'ada', { repositoryId: (made.json as { id: number }).id }],
    ['/org/club/settings/actions', 'ada', { ownerId: club.id }],
    ['/user/settings/actions', 'ada', { ownerId: ada.id }],
    ['/admin/actions', 'root', {}],
  ]
  const cookies: Record<string, string> = {}
  for (const name of ['ada', 'bob', 'root']) cookies[name] = await signIn(gateway, name)
  const see = (path: string, name: string) =>
    ask({ path, headers: { cookie: cookies[name] ?? '' } })
  const post = (path: string, name: string, fields: Readonly<Record<string, string>>) =>
    postForm(gateway, path, fields, { cookie: cookies[name] ?? '' })
  return { ...gateway, scopes, see, post }
}

t.test('values are set, replaced and deleted, and no page shows a secret', async (t) => {
  const { db, scopes, see, post } = await openFixture(t)
  for (const [path, user, scope] of scopes) {
    const secret = { name: 'key', value: SECRET, description: 'For the server' }
    const set = await post(`${path}/secrets`, user, secret)
    t.match([set.status, set.headers['location']], [303, new RegExp(`${path}$`)], path)
    for (const value of ['first', 'one\r\ntwo <b>']) {
      t.equal((await post(`${path}/variables`, user, { name: 'level', value })).status, 303)
    }
    t.match(await findValue(db, 'variables', { scope, name: 'LEVEL' }), { value: 'one\ntwo <b>' })
    const { text } = await see(path, user)
    t.match(text, '<strong>KEY</strong>')
    t.match(text, 'For the server')
    t.match(text, 'one\ntwo &lt;b>')
    t.notMatch(text, SECRET)
    t.match(text, 'aria-current="page">Actions</a>')
    for (const [kind, name] of [
      ['secrets', 'KEY'],
      ['variables', 'LEVEL'],
    ] as const) {
      await post(`${path}/${kind}/delete`, user, { name })
      t.equal(await findValue(db, kind, { scope, name }), undefined, `${path} ${kind}`)
    }
  }
})

t.test('a refused form is shown again, without the value of the secret', async (t) => {
  const { post } = await openFixture(t)
  const path = '/user/settings/actions'
  const sent = { name: 'GITHUB_X', value: SECRET, description: 'the reason' }
  const refused = await post(`${path}/secrets`, 'ada', sent)
  t.equal(refused.status, 400)
  t.match(refused.text, 'is reserved')
  t.match(refused.text, 'value="the reason"')
  t.notMatch(refused.text, SECRET)
  const variable = await post(`${path}/variables`, 'ada', sent)
  t.match(variable.text, `>${SECRET}</textarea>`)
})

t.test('the pages are for administrators of the scope', async (t) => {
  const { as, ask, scopes, see, post } = await openFixture(t)
  for (const [path, user] of scopes) {
    if (path.startsWith('/user/')) continue
    const refusal = path.startsWith('/admin') ? 404 : 403
    t.equal((await see(path, 'bob')).status, refusal, path)
    const sent = { name: 'A', value: 'x' }
    t.equal((await post(`${path}/secrets`, 'bob', sent)).status, refusal, path)
    t.equal((await post(`${path}/variables/delete`, 'bob', sent)).status, refusal, path)
    t.equal((await see(path, user)).status, 200)
    t.not((await ask({ path })).status, 200, 'without a session')
  }
  await as('ada', 'PATCH', '/repos/ada/r', { has_actions: false })
  t.notMatch((await see('/ada/r/settings', 'ada')).text, 'settings/actions')
  t.equal((await see('/ada/r/settings/actions', 'ada')).status, 404)
})
