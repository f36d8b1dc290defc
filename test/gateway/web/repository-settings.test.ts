/** Repository settings as a browser asks for them: who sees them, and what their forms do. */

import t, { type Test } from 'tap'
import { setCollaborator } from '../../../sql/collaborators.js'
import { findRepository } from '../../../sql/repositories.js'
import type { User } from '../../../sql/users.js'
import { BASE_URL, passwordOf, startGateway } from '../../helpers/gateway.js'
import { withToken } from '../../helpers/requests.js'

const FORM = 'application/x-www-form-urlencoded'
const OWN = '/ada/tool/settings'
const PLACES = [OWN]

/** Ada's repository `tool`; everybody can sign in, and `form` and `look` speak as a browser. */
async function aHouse(t: Test) {
  const gateway = await startGateway(t)
  const people: Record<string, User> = {}
  const cookies: Record<string, string> = {}
  const post = (path: string, fields: Record<string, string>, cookie = '') =>
    gateway.ask({
      ...{ method: 'POST', path, body: new URLSearchParams(fields).toString() },
      headers: { 'content-type': FORM, cookie },
    })
  for (const name of ['ada', 'bob', 'cleo', 'dan']) {
    people[name] = await gateway.addUser(name)
    const sent = { user_name: name, password: passwordOf(name) }
    const answer = await post('/user/login', sent)
    cookies[name] = String(answer.headers['set-cookie'] ?? '').split(';')[0] ?? ''
  }
  const fields = { name: 'tool', readme: 'on', private: 'on' }
  await post('/repo/create', fields, cookies['ada'])
  const repository = await findRepository(gateway.db, 'ada', 'tool')
  const repositoryId = repository?.id ?? 0
  const letIn = (name: string, mode: 'read' | 'write' | 'admin') =>
    setCollaborator(gateway.db, { repositoryId, userId: people[name]?.id ?? 0, mode })
  await letIn('bob', 'write')
  await letIn('cleo', 'admin')
  return {
    ...{ ...gateway, people, repositoryId },
    /** Sends a form as somebody. */
    form: (name: string, path: string, fields: Record<string, string> = {}) =>
      post(path, fields, cookies[name]),
    look: (name: string, path: string) =>
      gateway.ask({ path, headers: { cookie: cookies[name] ?? '' } }),
    find: (name: string) => findRepository(gateway.db, 'ada', name),
  }
}

t.test('settings are there for administrators alone', async (t) => {
  const { ask, look, form, addToken, people, find } = await aHouse(t)
  for (const path of PLACES) {
    t.equal((await ask({ path })).status, 303, `${path} leads a stranger to the sign-in`)
    t.equal((await look('dan', path)).status, 404, path)
    t.equal((await look('bob', path)).status, 403, path)
    t.equal((await look('cleo', path)).status, 200, path)
    t.equal((await form('dan', path)).status, 404, path)
    t.equal((await form('bob', path)).status, 403, path)
  }
  t.notMatch((await look('bob', '/ada/tool')).text, /\/ada\/tool\/settings/)
  t.match((await look('cleo', '/ada/tool')).text, /\/ada\/tool\/settings/)
  t.notMatch((await look('cleo', OWN)).text, /Danger zone/, 'an administrator does not own it')
  t.match((await look('ada', OWN)).text, /Danger zone/)
  const { plain } = await addToken(people['ada'] as User, 'all')
  t.equal((await ask({ path: OWN, authorization: withToken(plain) })).status, 303)
  const confirmed = { confirm: 'ada/tool', new_owner: 'cleo' }
  t.equal((await form('cleo', `${OWN}/delete`, confirmed)).status, 403)
  t.equal((await form('cleo', `${OWN}/transfer`, confirmed)).status, 403)
  t.ok(await find('tool'))
})

t.test('what the first page sends is changed, and what is wrong is said', async (t) => {
  const { look, form, find } = await aHouse(t)
  const sent = {
    name: 'kit',
    description: 'A <b>',
    website: 'https://x.example/',
    has_issues: 'on',
  }
  const changed = await form('cleo', OWN, { ...sent, default_branch: 'main', archived: 'on' })
  t.equal(changed.headers.location, `${BASE_URL}/ada/kit/settings`)
  t.match(await find('kit'), {
    ...{ description: 'A <b>', website: 'https://x.example/', defaultBranch: 'main' },
    ...{ isPrivate: false, isTemplate: false, isArchived: true },
    preferences: { has_issues: true, has_pull_requests: false, has_releases: false },
  })
  t.match((await look('cleo', '/ada/kit/settings')).text, /name="has_issues" checked/)
  const wrong: readonly (readonly [Record<string, string>, number, RegExp])[] = [
    [{ default_branch: 'none' }, 422, /The branch none does not exist/],
    [{ name: '../x' }, 422, /name/],
    [{ description: 'x'.repeat(2_049) }, 422, /more than 2048 characters/],
    [{ website: 'x'.repeat(1_025) }, 422, /more than 1024 characters/],
  ]
  for (const [fields, status, sentence] of wrong) {
    const all = { ...sent, default_branch: 'main', ...fields }
    const answer = await form('ada', '/ada/kit/settings', all)
    t.equal(answer.status, status)
    t.match(answer.text, sentence)
    t.match(answer.text, /value="A &lt;b(?:&gt;|>)"|x{100}/, 'the form is shown as it was sent')
  }
  t.match(await find('kit'), { isArchived: true }, 'nothing was changed')
})

t.test('a repository goes to another owner or away when its name is typed', async (t) => {
  const { form, find, look, addOrganization, people } = await aHouse(t)
  await addOrganization('acme', people['ada'] as User)
  for (const confirm of ['', 'tool', 'ADA/TOOL', 'ada/other']) {
    for (const action of ['delete', 'transfer']) {
      const answer = await form('ada', `${OWN}/${action}`, { confirm, new_owner: 'acme' })
      t.equal(answer.status, 422)
      t.match(answer.text, /Nothing was done\. Type ada\/tool to confirm/)
    }
  }
  t.ok(await find('tool'))
  const confirm = 'ada/tool'
  const wrong = await form('ada', `${OWN}/transfer`, { confirm, new_owner: 'ada' })
  t.match(wrong.text, /has this owner already/)
  t.equal((await form('ada', `${OWN}/transfer`, { confirm, new_owner: 'dan' })).status, 403)
  const moved = await form('ada', `${OWN}/transfer`, { confirm, new_owner: 'acme' })
  t.equal(moved.headers.location, `${BASE_URL}/acme/tool`)
  const end = await form('ada', '/acme/tool/settings/delete', { confirm: 'acme/tool' })
  t.equal(end.headers.location, `${BASE_URL}/acme`)
  t.equal((await look('ada', '/acme/tool')).status, 404)
})
