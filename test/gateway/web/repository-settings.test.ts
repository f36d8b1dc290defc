/** Repository settings as a browser asks for them: who sees them, and what their forms do. */

import t, { type Test } from 'tap'
import { setCollaborator } from '../../../sql/collaborators.js'
import { listDeployKeys } from '../../../sql/deploy-keys.js'
import { addUserKey } from '../../../sql/keys.js'
import { findRepository } from '../../../sql/repositories.js'
import type { User } from '../../../sql/users.js'
import { BASE_URL, passwordOf, startGateway } from '../../helpers/gateway.js'
import { withToken } from '../../helpers/requests.js'
import { aKey, aKeyLine } from '../../helpers/ssh-keys.js'

const FORM = 'application/x-www-form-urlencoded'
const OWN = '/ada/tool/settings'
const PLACES = [OWN, `${OWN}/collaboration`, `${OWN}/keys`]

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

t.test('people are let in, may do more or less, and are shut out', async (t) => {
  const { form, look } = await aHouse(t)
  const path = `${OWN}/collaboration`
  const mayOf = async (name: string) => (await look(name, '/ada/tool')).status
  t.equal((await form('cleo', path, { user: 'dan', mode: 'read' })).status, 303)
  t.equal(await mayOf('dan'), 200)
  t.equal((await look('dan', OWN)).status, 403)
  t.equal((await form('cleo', path, { user: 'dan', mode: 'admin' })).status, 303)
  t.equal((await look('dan', OWN)).status, 200)
  const list = (await look('ada', path)).text
  t.match(list, /value="dan".*?<option value="admin" selected/s)
  t.match(list, /aria-label="Remove bob"/)
  for (const [fields, status, sentence] of [
    [{ user: 'ada', mode: 'read' }, 422, /owner of a repository is no collaborator/],
    [{ user: 'nobody', mode: 'read' }, 404, /There is nobody of that name/],
    [{ user: 'bob', mode: 'owner' }, 422, /Choose what they may do/],
  ] as const) {
    const answer = await form('cleo', path, fields)
    t.equal(answer.status, status)
    t.match(answer.text, sentence)
  }
  t.equal((await form('ada', `${path}/delete`, { user: 'dan' })).status, 303)
  t.equal(await mayOf('dan'), 404)
  t.equal((await form('bob', `${path}/delete`, { user: 'cleo' })).status, 403)
  t.equal((await look('cleo', OWN)).status, 200)
})

t.test('a deploy key is added once, for reading or more, and refused in words', async (t) => {
  const { db, form, look, people, repositoryId } = await aHouse(t)
  const path = `${OWN}/keys`
  const [line, other, own] = [aKeyLine('ci'), aKeyLine(), aKey()]
  await addUserKey(db, { userId: people['dan']?.id ?? 0, title: 'laptop', key: own })
  const keys = async () => (await listDeployKeys(db, repositoryId, { page })).entries
  const page = { page: 1, limit: 10 }
  t.equal((await form('cleo', path, { title: 'ci <b>', key: line })).status, 303)
  t.equal((await form('cleo', path, { title: 'bot', key: other, write: 'on' })).status, 303)
  const [first, second] = await keys()
  t.match([first, second], [{ title: 'ci <b>', mode: 'read' }, { mode: 'write' }])
  const { text } = await look('ada', path)
  t.ok(text.includes(first?.key.fingerprint ?? '?'))
  t.match(text, /ci &lt;b/)
  const taken = `${own.algorithm} ${own.base64}`
  for (const [fields, sentence] of [
    [{ title: 'mine', key: taken }, /used as non-deploy key/],
    [{ title: 'again', key: line }, /already been added to this repository/],
    [{ title: 'bot', key: aKeyLine() }, /same name already exists/],
    [{ title: 'x'.repeat(256), key: aKeyLine() }, /more than 255 characters/],
    [{ title: '', key: aKeyLine() }, /title is not blank/],
    [{ title: 'x', key: 'nonsense' }, /Invalid key content/],
  ] as const) {
    const answer = await form('ada', path, fields)
    t.equal(answer.status, 422)
    t.match(answer.text, sentence)
  }
  t.equal((await form('bob', `${path}/delete`, { id: String(first?.id) })).status, 403)
  await form('ada', '/repo/create', { name: 'other' })
  await form('ada', '/ada/other/settings/keys/delete', { id: String(first?.id) })
  t.equal((await keys()).length, 2, 'the key of another repository is not removed')
  t.equal((await form('ada', `${path}/delete`, { id: String(first?.id) })).status, 303)
  t.match(await keys(), [{ title: 'bot' }])
})
