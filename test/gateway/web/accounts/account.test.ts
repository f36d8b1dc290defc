/** Account settings in the browser; each is for the account of the session. */

import t from 'tap'
import { listUserKeys } from '../../../../sql/accounts/keys.js'
import { listSessions } from '../../../../sql/accounts/sessions.js'
import { openGpgHome } from '../../../helpers/gpg-home.js'
import { passwordOf } from '../../../helpers/passwords.js'
import { withToken } from '../../../helpers/requests.js'
import { aKeyLine } from '../../../helpers/ssh-keys.js'
import { cookieOf, type Fields, startWebGateway } from '../../../helpers/visitors.js'

const SETTINGS = '/user/settings'
const GPG_KEYS = `${SETTINGS}/gpg`
const PAGE = { page: 1, limit: 50 }

t.test('the profile is saved, or shown again with its errors', async (t) => {
  const { addUser, signIn, ask } = await startWebGateway(t)
  await addUser('ada')
  const ada = await signIn('ada')
  t.equal((await ada.get(SETTINGS)).headers.location, `${SETTINGS}/profile`)
  for (const tab of ['profile', 'password', 'keys', 'sessions']) {
    t.equal((await ask({ path: `${SETTINGS}/${tab}` })).status, 303, 'anonymous visitors sign in')
    t.match((await ada.get(`${SETTINGS}/${tab}`)).text, /aria-current="page"/)
  }
  const path = `${SETTINGS}/profile`
  const said = { full_name: 'Ada <b>', description: 'counts', website: 'https://ada.example' }
  const fields = { ...said, location: 'London', visibility: 'private' }
  t.equal((await ada.post(path, fields)).status, 303)
  const { text } = await ada.get(path)
  t.match(text, /value="Ada &lt;b>"/)
  t.match(text, /value="private" checked/)
  t.equal((await ask({ path: '/ada' })).status, 404, 'a private user is 404 for others')
  t.match(await ada.post(path, { ...fields, location: 'x'.repeat(51) }), {
    status: 422,
    text: /more than 50 characters/,
  })
  t.match(await ada.post(path, { ...fields, visibility: 'none' }), {
    status: 422,
    text: /Choose a visibility/,
  })
})

t.test('a changed password ends all other sessions and renews this one', async (t) => {
  const { addUser, signIn, visitor } = await startWebGateway(t)
  await addUser('ada')
  const [here, elsewhere] = [await signIn('ada'), await signIn('ada')]
  const path = `${SETTINGS}/password`
  const fresh = 'correct horse battery'
  const change = { old: passwordOf('ada'), fresh, again: fresh }
  for (const [wrong, sentence] of [
    [{ old: 'not it' }, /The old password is wrong/],
    [{ again: 'correct horse' }, /passwords differ/],
    [{ fresh: 'short', again: 'short' }, /8 to 256 characters/],
    [{ fresh: 'a'.repeat(40), again: 'a'.repeat(40) }, /like an access token/],
  ] as const) {
    const answer = await here.post(path, { ...change, ...wrong })
    t.match(answer, { status: 422, text: sentence })
    t.notMatch(answer.text, /correct horse|not it/, 'no password is shown again')
  }
  t.equal((await elsewhere.get(path)).status, 200)
  const changed = await here.post(path, change)
  t.equal(changed.headers.location, `${SETTINGS}/sessions`)
  t.equal((await elsewhere.get(path)).status, 303, 'the other session has ended')
  t.equal((await here.get(path)).status, 303, 'the old session cookie is invalid')
  const anew = visitor({ cookie: cookieOf(changed) })
  t.match((await anew.get(`${SETTINGS}/sessions`)).text, /this session/)
  t.equal((await signIn('ada')).headers['cookie'], '', 'the old password is invalid')
  t.match((await signIn('ada', fresh)).headers['cookie'], /gatehouse_session=/)
})

t.test('guesses at the old password are counted like those at a sign-in', async (t) => {
  const { addUser, signIn } = await startWebGateway(t)
  await addUser('ada')
  const ada = await signIn('ada')
  const fresh = 'correct horse battery'
  const guess = (old: string) => ada.post(`${SETTINGS}/password`, { old, fresh, again: fresh })
  for (let at = 0; at < 10; at++) t.equal((await guess(`guess ${at}`)).status, 422)
  t.equal((await guess(passwordOf('ada'))).status, 429)
})

t.test('a key is added, shown and deleted by its owner only', async (t) => {
  const { addUser, signIn, db } = await startWebGateway(t)
  const { id: userId } = await addUser('ada')
  await addUser('bob')
  const [ada, bob] = [await signIn('ada'), await signIn('bob')]
  const path = `${SETTINGS}/keys`
  const key = aKeyLine('ada@laptop')
  t.equal((await ada.post(path, { title: 'laptop', key: `${key}\r\n` })).status, 303)
  const [kept] = (await listUserKeys(db, userId, { page: PAGE })).entries
  const { text } = await ada.get(path)
  t.match(text, new RegExp(`${kept?.key.fingerprint.replaceAll('+', '\\+')}.*never used`, 's'))
  for (const [fields, sentence] of [
    [{ title: 'other', key }, /has been used/],
    [{ title: 'laptop', key: aKeyLine() }, /title has been used/],
    [{ title: 'x', key: 'ssh-dss AAAA' }, /Invalid key content/],
    [{ title: '', key: aKeyLine() }, /not blank/],
    [{ title: 'x'.repeat(256), key: aKeyLine() }, /more than 255/],
  ] as const) {
    t.match(await ada.post(path, fields), { status: 422, text: sentence })
  }
  const id = String(kept?.id)
  await bob.post(`${path}/delete`, { id })
  t.equal((await listUserKeys(db, userId, { page: PAGE })).total, 1, "the key is not bob's")
  t.equal((await ada.post(`${path}/delete`, { id: 'x' })).status, 303)
  t.equal((await ada.post(`${path}/delete`, { id })).status, 303)
  t.equal((await listUserKeys(db, userId, { page: PAGE })).total, 0)
})

t.test('sessions are listed and ended by their user only', async (t) => {
  const { addUser, signIn, db } = await startWebGateway(t)
  const { id: userId } = await addUser('ada')
  await addUser('bob')
  const here = await signIn('ada', passwordOf('ada'), 'Here/1')
  const there = await signIn('ada', passwordOf('ada'), 'There/<b>')
  const third = await signIn('ada')
  const bob = await signIn('bob')
  const path = `${SETTINGS}/sessions`
  const { text } = await here.get(path)
  t.match(text, /this session.*Here\/1/s)
  t.match(text, /There\/&lt;b>/)
  const { entries } = await listSessions(db, userId, PAGE)
  const id = String(entries.find(({ agent }) => agent === 'There/<b>')?.id)
  await bob.post(`${path}/delete`, { id })
  t.equal((await there.get(path)).status, 200, "the session is not bob's")
  await bob.post(`${path}/delete-others`, {})
  t.equal((await there.get(path)).status, 200, 'nor any other session of ada')
  t.equal((await here.post(`${path}/delete`, { id })).status, 303)
  t.equal((await there.get(path)).status, 303, 'ended')
  t.equal((await third.get(path)).status, 200)
  t.equal((await here.post(`${path}/delete-others`, {})).status, 303)
  t.equal((await third.get(path)).status, 303, 'ended with all others')
  t.equal((await here.get(path)).status, 200)
})

t.test('a token is revoked by its owner only', async (t) => {
  const { addUser, addToken, signIn } = await startWebGateway(t)
  const { token } = await addToken(await addUser('ada'), 'all')
  await addUser('bob')
  const [ada, bob] = [await signIn('ada'), await signIn('bob')]
  await bob.post(`${SETTINGS}/applications/delete`, { id: String(token.id) })
  t.match((await ada.get(`${SETTINGS}/applications`)).text, new RegExp(token.name))
})

t.test('a token limited by the form is refused beyond its limits', async (t) => {
  const { addUser, addOrganization, ask, signIn } = await startWebGateway(t)
  await addUser('ada')
  await addOrganization('hidden', await addUser('bob'), 'private')
  const ada = await signIn('ada')
  for (const name of ['one', 'two']) await ada.post('/repo/create', { name, private: 'on' })
  const path = `${SETTINGS}/applications`
  const make = async (limits: Fields) => {
    const made = await ada.post(path, { name: JSON.stringify(limits), scope: 'all', ...limits })
    return withToken(/value="([0-9a-f]{40})"/.exec(made.text)?.[1] ?? made.text)
  }
  const statusOf = async (authorization: string, path: string, method = 'GET') =>
    (await ask({ method, path, authorization, body: method === 'PUT' ? 'x' : undefined })).status
  const bound = await make({ repositories: '\r\n ada/one \r\n', expires: '2999-01-01' })
  t.equal(await statusOf(bound, '/api/v1/repos/ada/one'), 200)
  t.equal(await statusOf(bound, '/api/v1/repos/ada/two'), 404)
  t.equal(await statusOf(bound, '/api/v1/user/emails'), 403)
  const packages = await make({ packages: 'ada/generic/tool' })
  const file = '/api/packages/ada/generic'
  t.equal(await statusOf(packages, `${file}/tool/1/f`, 'PUT'), 201)
  t.equal(await statusOf(packages, `${file}/other/1/f`, 'PUT'), 403)
  t.equal(await statusOf(await make({ addresses: '127.0.0.1' }), '/api/v1/user'), 200)
  t.equal(await statusOf(await make({ addresses: '10.0.0.0/8\n::5' }), '/api/v1/user'), 401)
  const { text } = await ada.get(path)
  t.match(text, /limited to ada\/one.*ada\/generic\/tool.*from 10\.0\.0\.0\/8, ::5/s)
  for (const [limits, sentence] of [
    [{ repositories: 'ada/none' }, /is not a repository/],
    [{ packages: 'hidden' }, /an owner of packages/],
    [{ addresses: 'here' }, /must be addresses/],
    [{ addresses: '::1\n'.repeat(21) }, /at most 20 entries/],
    [{ repositories: 'ada/one\n'.repeat(101) }, /at most 100 entries/],
  ] as const) {
    const answer = await ada.post(path, { name: 'x', scope: 'read:user', ...limits })
    t.match(answer, { status: 422, text: sentence })
    t.match(answer.text, /value="read:user" checked/, 'the input is shown again')
  }
})

t.test('GPG keys are added and removed by forms, and shown to all as text', async (t) => {
  const { addUser, signIn, ask } = await startWebGateway(t)
  await addUser('ada')
  const ada = await signIn('ada')
  const home = await openGpgHome(t)
  const key = home.makeKey('Ada <ada@example.com>')
  const text = async (path: string) => (await ask({ path })).text
  t.match(await text('/ada.gpg'), "Note: This user hasn't uploaded any GPG keys.")
  t.equal(await text('/ada.keys'), "# Note: This user hasn't uploaded any SSH keys.\n")
  t.match(await ada.post(GPG_KEYS, { key: 'no key', signature: '' }), { status: 422 })
  const sent = await ada.post(GPG_KEYS, { key, signature: '' })
  t.equal(sent.status, 303)
  const armored = await text('/ada.gpg')
  const imported = home.gpg(['--show-keys', '--with-colons'], armored)
  t.match(imported, 'ada@example.com')
  const page = await ada.get(GPG_KEYS)
  const id = /name="id" value="(\d+)"/.exec(page.text)?.[1] ?? ''
  await ada.post(`${GPG_KEYS}/delete`, { id })
  t.notMatch((await ada.get(GPG_KEYS)).text, /name="id"/)
  await ada.post(`${SETTINGS}/keys`, { title: 'k', key: aKeyLine('ada@laptop') })
  t.match(await text('/ada.keys'), /^ssh-ed25519 \S+\n$/)
  t.equal((await ask({ path: '/nobody.keys' })).status, 404)
})
