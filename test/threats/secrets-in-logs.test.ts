/** Threat: the log contains secrets that a reader can sign in with. */

import t from 'tap'
import { type Gatehouse, type Person, startGatehouse } from '../helpers/gatehouse.js'
import { git, tryGit } from '../helpers/git-client.js'
import { ask, withPassword, withToken } from '../helpers/requests.js'
import { temporaryFolder } from '../helpers/temporary.js'
import { cookieOf } from '../helpers/web-forms.js'

t.test('no line of the log contains a token, a password or a hash', async (t) => {
  const gatehouse = await startGatehouse(t, {
    workers: 1,
    environment: { GATEHOUSE_LOG_LEVEL: 'debug', GATEHOUSE_METRICS_TOKEN: 'metrics-secret' },
  })
  const { port } = gatehouse
  const ada = await gatehouse.addUser('ada')
  const authorization = withPassword('ada', ada.password)
  const path = '/api/v1/users/ada/tokens'
  const body = { name: 'x', scopes: ['write:repository'] }
  const made = await ask(port, { method: 'POST', path, authorization, body })
  const { sha1 } = made.json as { sha1: string }
  await ada.api('POST', '/user/repos', { name: 'r', private: true })

  await ada.api('PATCH', '/repos/ada/r', { has_actions: true })
  const ofWorkflows = await setSecrets(gatehouse, ada)

  const secrets = [
    ada.token,
    ada.password,
    sha1,
    'guessed password',
    'metrics-secret',
    ...ofWorkflows,
  ]
  const tries = [
    withToken(sha1),
    `Bearer ${sha1}`,
    withPassword('ada', sha1),
    withPassword(sha1, ''),
    withPassword(sha1, 'guessed password'),
    withPassword('guessed password', sha1),
    withPassword('ada', 'guessed password'),
    withPassword(ada.password, 'x'),
    `token ${sha1}x`,
  ]
  for (const tried of tries) {
    await ask(port, { path: '/api/v1/user', authorization: tried })
    await ask(port, { path: '/ada/r.git/info/refs', authorization: tried })
    await ask(port, { path: '/nothing', authorization: tried })
  }
  for (const name of ['token', 'access_token', 'private_token', 'password']) {
    await ask(port, { path: `/api/v1/user?${name}=${sha1}` })
    await ask(port, { path: `/ada/r.git/info/refs?service=git-upload-pack&${name}=${sha1}` })
  }
  await ask(port, { path: '/metrics', authorization: 'Bearer metrics-secret' })
  await ask(port, { method: 'POST', path, authorization, body: `{"name": "${sha1}"` })

  const cwd = await temporaryFolder(t)
  await git(['init', '--initial-branch=main'], { cwd })
  await git(['commit', '--allow-empty', '-m', 'x'], { cwd })
  await git(['push', ada.remote('ada/r.git'), 'main'], { cwd })
  await git(['ls-remote', ada.remote('ada/r.git')], { cwd })
  await tryGit(['ls-remote', `http://${sha1}:x@127.0.0.1:${port}/ada/r.git`], { cwd })
  await gatehouse.run('user', 'password', 'ada', '--password', 'another password')
  await gatehouse.stop()

  const log = gatehouse.log()
  t.match(log, '"msg":"a sign-in failed"', 'the log was written')
  t.match(log, '"path":"/ada/r.git/git-receive-pack"')
  for (const secret of [...secrets, 'another password']) {
    t.notOk(log.includes(secret), `${secret.slice(0, 8)}…`)
    t.notOk(log.includes(Buffer.from(secret).toString('base64').slice(0, -2)), 'also not in Base64')
  }
  t.notMatch(log, /\$argon2|[Aa]uthorization"|Basic [A-Za-z0-9+/]{8}/)
})

/** Sends secrets of workflows over the API and by the form of the page; returns their values. */
async function setSecrets({ port }: Gatehouse, ada: Person): Promise<readonly string[]> {
  const [stored, refused, malformed, ofForm] = ['stored', 'refused', 'malformed', 'form'].map(
    (word) => `workflow secret that is ${word}`,
  )
  const path = '/repos/ada/r/actions/secrets'
  const statuses = [
    (await ada.api('PUT', `${path}/KEY`, { data: stored })).status,
    (await ada.api('PUT', `${path}/CI`, { data: refused })).status,
    (await ada.api('PUT', `${path}/KEY`, { data: [malformed] })).status,
  ]
  const form = async (path: string, fields: Readonly<Record<string, string>>, cookie = '') => {
    const type = 'application/x-www-form-urlencoded'
    const body = new URLSearchParams(fields).toString()
    return ask(port, { method: 'POST', path, body, headers: { 'content-type': type, cookie } })
  }
  const signedIn = await form('/user/login', { user_name: 'ada', password: ada.password })
  for (const name of ['KEY2', 'GITHUB_X']) {
    const fields = { name, value: ofForm ?? '', description: '' }
    const path = '/ada/r/settings/actions/secrets'
    statuses.push((await form(path, fields, cookieOf(signedIn))).status)
  }
  t.strictSame(statuses, [201, 400, 422, 303, 400])
  return [stored, refused, malformed, ofForm].map((value) => value ?? '')
}
