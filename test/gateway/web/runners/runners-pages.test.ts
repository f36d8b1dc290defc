/** Pages of runners: contents, effects of the forms, and access, for each scope. */

import t, { type Test } from 'tap'
import { REGISTER } from '../../../../gateway/runner-protocol/procedures.js'
import { listRunners } from '../../../../sql/runners/runners.js'
import { startGatewayWithUsers } from '../../../helpers/gateway-with-users.js'
import { aRunner } from '../../../helpers/run-rows.js'
import { callProcedure } from '../../../helpers/runner-client.js'
import { postForm, signIn } from '../../../helpers/web-forms.js'

/** Starts a gateway with a runner in each of four scopes. */
async function openFixture(t: Test) {
  const gateway = await startGatewayWithUsers(t)
  const { as, ask, ada, db, addOrganization } = gateway
  const { id: organizationId } = await addOrganization('club', ada)
  const made = await as('ada', 'POST', '/user/repos', { name: 'r' })
  await as('ada', 'PATCH', '/repos/ada/r', { has_actions: true })
  const repositoryId = (made.json as { id: number }).id
  const scopes = [
    { user: 'ada', path: '/ada/r/settings/actions/runners', scope: { repositoryId } },
    { user: 'ada', path: '/org/club/settings/actions/runners', scope: { ownerId: organizationId } },
    { user: 'ada', path: '/user/settings/actions/runners', scope: { ownerId: ada.id } },
    { user: 'root', path: '/admin/actions/runners', scope: {} },
  ] as const
  const pages = []
  for (const { user, path, scope } of scopes) {
    const id = await aRunner(db, ['linux', '<arm>'], scope)
    const cookie = await signIn(gateway, user)
    const see = async () => (await ask({ path, headers: { cookie } })).text
    const post = (below: string, fields: Readonly<Record<string, string>>) =>
      postForm(gateway, path + below, { id: String(id), ...fields }, { cookie })
    pages.push({ path, id, see, post })
  }
  const stateOf = async (id: number) => (await listRunners(db)).find((runner) => runner.id === id)
  return { ...gateway, pages, stateOf }
}

t.test('the runners of a scope are listed, changed and deleted on its page', async (t) => {
  const { pages, stateOf } = await openFixture(t)
  for (const { path, id, see, post } of pages) {
    t.match(await see(), /<strong>runner<\/strong> <span class="label">offline<\/span>/, path)
    t.match(await see(), /labels linux, &lt;arm> · version 1 · never seen/)
    t.equal((await see()).match(/<strong>runner/g)?.length, 1, 'only those of the scope')
    const { status, headers } = await post('', { disabled: 'yes' })
    t.strictSame([status, headers.location], [303, path])
    t.match(await stateOf(id), { isDisabled: true, runsForks: false })
    t.match(await see(), /<span class="label">disabled<\/span>/)
    await post('', { forks: 'yes' })
    t.match(await stateOf(id), { isDisabled: true, runsForks: true })
    await post('', { disabled: 'no' })
    await post('', { forks: 'no' })
    t.match(await stateOf(id), { isDisabled: false, runsForks: false })
    t.equal((await post('/delete', {})).status, 303)
    t.equal(await stateOf(id), undefined)
    t.match(await see(), /There are no runners yet/)
  }
})

t.test('a new registration token is shown once, and registers a runner', async (t) => {
  const { pages, port } = await openFixture(t)
  for (const { path, see, post } of pages) {
    const { status, text, headers } = await post('/token', {})
    t.equal(status, 200)
    t.match(headers['cache-control'], /no-store/)
    const [, token = ''] = /runner register --instance \S+ --token ([0-9a-f]{40}) /.exec(text) ?? []
    const message = { name: 'second', token, labels: [] }
    t.equal((await callProcedure(port, REGISTER, message)).status, 200, path)
    t.notMatch(await see(), /--token/)
    t.match(await see(), /<strong>second</)
  }
})

t.test('a runner of another scope is not changed', async (t) => {
  const { pages, stateOf } = await openFixture(t)
  for (const { post } of pages) {
    for (const other of pages) {
      if (other.post === post) continue
      const id = String(other.id)
      t.equal((await post('', { id, disabled: 'yes' })).status, 404)
      t.equal((await post('/delete', { id })).status, 404)
      t.match(await stateOf(other.id), { isDisabled: false })
    }
  }
})

t.test('the pages are closed to other users, and missing without Actions', async (t) => {
  const gateway = await openFixture(t)
  const { as, ask, pages, stateOf } = gateway
  const cookie = await signIn(gateway, 'bob')
  for (const { path, id } of pages) {
    const { status } = await ask({ path, headers: { cookie } })
    t.equal(status, path.startsWith('/user') ? 200 : path.startsWith('/admin') ? 404 : 403, path)
    for (const below of ['', '/delete', '/token']) {
      const fields = { id: String(id), disabled: 'yes' }
      const answer = await postForm(gateway, path + below, fields, { cookie })
      if (path + below !== '/user/settings/actions/runners/token') {
        t.match(String(answer.status), /^40[34]$/, path + below)
      }
    }
    t.match(await stateOf(id), { isDisabled: false })
  }
  const [{ path } = { path: '' }] = pages
  const ada = await signIn(gateway, 'ada')
  const settings = async () =>
    (await ask({ path: '/ada/r/settings', headers: { cookie: ada } })).text
  t.match(await settings(), /settings\/actions\/runners/)
  await as('ada', 'PATCH', '/repos/ada/r', { has_actions: false })
  t.notMatch(await settings(), /settings\/actions\/runners/)
  t.equal((await ask({ path, headers: { cookie: ada } })).status, 404)
})

t.test('the account and the administration have tabs that lead to their runners', async (t) => {
  const gateway = await startGatewayWithUsers(t)
  const cookie = await signIn(gateway, 'root')
  const see = async (path: string) => (await gateway.ask({ path, headers: { cookie } })).text
  t.match(await see('/user/settings/profile'), /\/user\/settings\/actions\/runners"/)
  t.match(await see('/admin/users'), /\/admin\/actions\/runners"/)
})

t.test('a site without Actions has no tabs of runners', async (t) => {
  const environment = { GATEHOUSE_ACTIONS_ENABLED: 'false' }
  const gateway = await startGatewayWithUsers(t, { environment })
  const cookie = await signIn(gateway, 'root')
  for (const path of ['/user/settings/profile', '/admin/users']) {
    const { status, text } = await gateway.ask({ path, headers: { cookie } })
    t.equal(status, 200)
    t.notMatch(text, /actions\/runners/, path)
  }
  const { status } = await gateway.ask({ path: '/admin/actions/runners', headers: { cookie } })
  t.equal(status, 404)
})
