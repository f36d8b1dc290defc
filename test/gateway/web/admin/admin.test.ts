/** Administration pages: hidden from others, without secrets, under the rules of the API. */

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { loadSettings } from '../../../../conf/load.js'
import { SCHEMAS } from '../../../../conf/schemas.js'
import { ADMIN_CACHE_PAGES } from '../../../../gateway/web/admin/admin-cache.js'
import { ADMIN_JOBS_PAGES } from '../../../../gateway/web/admin/admin-jobs.js'
import { ADMIN_SETTINGS_PAGES } from '../../../../gateway/web/admin/admin-settings.js'
import { ADMIN_USER_PAGES } from '../../../../gateway/web/admin/admin-user.js'
import { ADMIN_USERS_PAGES } from '../../../../gateway/web/admin/admin-users.js'
import { AUDIT_PAGES } from '../../../../gateway/web/admin/audit-pages.js'
import { readMetrics } from '../../../../gateway/web/admin/metric-samples.js'
import { shownSettings } from '../../../../gateway/web/admin/shown-settings.js'
import { SITE_HOOK_PAGES } from '../../../../gateway/web/webhooks/site-webhooks.js'
import { findUser } from '../../../../sql/accounts/users.js'
import { enqueueJob } from '../../../../sql/admin/jobs.js'
import { isRegistrationOpen } from '../../../../sql/admin/site.js'
import { listWebhooks } from '../../../../sql/webhooks/webhooks.js'
import { aWebhook } from '../../../helpers/deliveries.js'
import { type GatewayOptions, startGateway } from '../../../helpers/gateway.js'
import { postForm, signIn } from '../../../helpers/web-forms.js'

const PAGES = [
  ADMIN_USERS_PAGES,
  ADMIN_USER_PAGES,
  ADMIN_SETTINGS_PAGES,
  ADMIN_JOBS_PAGES,
  ADMIN_CACHE_PAGES,
  SITE_HOOK_PAGES,
  AUDIT_PAGES.filter(({ path }) => path.startsWith('/admin/')),
].flat()

/** Creates a site with the administrator root and the user ada, seen in root's browser. */
async function aSite(t: Test, options: GatewayOptions = {}) {
  const gateway = await startGateway(t, options)
  const root = await gateway.addUser('root', { isAdmin: true })
  await gateway.addUser('ada')
  const cookie = await signIn(gateway, 'root')
  const see = (path: string) => gateway.ask({ path, headers: { cookie } })
  const send = (path: string, fields: Record<string, string>) =>
    postForm(gateway, path, fields, { cookie })
  return { ...gateway, root, see, send }
}

t.test('administration pages are 404 for all others', async (t) => {
  const { ask, db, addToken, root, ...site } = await aSite(t)
  const { id } = await aWebhook(db, { site: 'system' })
  const ada = await signIn({ ask }, 'ada')
  const { plain } = await addToken(root, 'all')
  const nothing = (await ask({ path: '/nobody', headers: { cookie: ada } })).text
  for (const { method, path } of PAGES) {
    const place = path.replace('{username}', 'ada').replace('{id}', String(id))
    const others = [{}, { cookie: ada }, { authorization: `token ${plain}` }]
    for (const headers of others) {
      const answer =
        method === 'GET'
          ? await ask({ path: place, headers })
          : await postForm({ ask }, place, { is_admin: 'on', registration: 'on' }, headers)
      t.equal(answer.status, 404, `${method} ${place} ${JSON.stringify(headers)}`)
      t.equal(answer.text, nothing)
    }
    const foreign = { cookie: await signIn({ ask }, 'root'), origin: 'http://evil.example' }
    if (method === 'POST') t.equal((await postForm({ ask }, place, {}, foreign)).status, 403)
    else t.ok((await site.see(place)).status < 400, `${place} for the administrator`)
  }
  t.match(await findUser(db, 'ada'), { isAdmin: false })
  t.equal(await isRegistrationOpen(db), false)
  t.notMatch((await ask({ path: '/', headers: { cookie: ada } })).text, /Administration/)
  t.match((await site.see('/')).text, /<a href="[^"]*\/admin\/users">Administration/)
  t.equal((await site.see('/admin')).headers.location, '/admin/users')
})

t.test('users are searched, created, changed, renamed and deleted', async (t) => {
  const { ask, db, see, send } = await aSite(t)
  const bob = { user_name: 'bob', email: 'bob@example.com', password: 'password of bob' }
  t.equal((await send('/admin/users', bob)).headers.location, '/admin/users/bob')
  const again = await send('/admin/users', { ...bob, email: 'b@example.com' })
  t.equal(again.status, 422)
  t.match(again.text, /already taken.*value="b@example\.com"/s)
  t.match((await see('/admin/users?q=BO')).text, /1 found.*\/admin\/users\/bob"/s)
  t.notMatch((await see('/admin/users?q=BO')).text, /\/admin\/users\/ada"/)
  t.match((await see('/admin/users?q=%25')).text, /no user with this name/)
  const bobs = { cookie: await signIn({ ask }, 'bob') }
  const settings = { path: '/user/settings/applications', headers: bobs }
  t.equal((await ask(settings)).status, 200)

  await send('/admin/users/bob', { is_admin: 'on' })
  t.equal((await ask({ path: '/admin/users', headers: bobs })).status, 200)
  await send('/admin/users/bob', { is_prohibited: 'on' })
  t.match(await findUser(db, 'bob'), { isAdmin: false, isLoginProhibited: true })
  t.equal((await ask(settings)).status, 303, 'the session is refused')
  t.match((await see('/admin/users/bob')).text, /sign-in disabled/)
  await send('/admin/users/bob', {})
  t.equal((await send('/admin/users/bob/password', { password: 'short' })).status, 422)
  await send('/admin/users/bob/password', { password: 'another password' })
  t.equal((await ask(settings)).status, 303, 'the session has ended')
  t.equal(await signIn({ ask }, 'bob'), '')

  const taken = await send('/admin/users/bob/rename', { new_name: 'ada' })
  t.match(taken, { status: 422, text: /role="alert">[^<]*already taken/ })
  const renamed = await send('/admin/users/bob/rename', { new_name: 'robert' })
  t.equal(renamed.headers.location, '/admin/users/robert')
  t.equal((await see('/admin/users/robert')).status, 200)
  await send('/admin/users/robert/rename', { new_name: 'bob' })
  t.equal((await send('/admin/users/bob/delete', { confirmation: 'ada' })).status, 422)
  t.ok(await findUser(db, 'bob'))
  t.equal((await send('/admin/users/bob/delete', { confirmation: 'bob' })).status, 303)
  t.equal(await findUser(db, 'bob'), undefined)
  t.equal((await see('/admin/users/bob')).status, 404)
})

t.test(
  'the last administrator is kept, and repositories are deleted only with purge',
  async (t) => {
    const { ask, db, see, send } = await aSite(t)
    for (const [path, fields] of [
      ['/admin/users/root', {}],
      ['/admin/users/root', { is_admin: 'on', is_prohibited: 'on' }],
      ['/admin/users/root/delete', { confirmation: 'root', purge: 'on' }],
    ] as const) {
      const { status, text } = await send(path, fields)
      t.equal(status, 422)
      t.match(text, /role="alert"/)
    }
    t.match(await findUser(db, 'root'), { isAdmin: true, isLoginProhibited: false })
    const cookie = await signIn({ ask }, 'ada')
    await postForm({ ask }, '/repo/create', { name: 'r' }, { cookie })
    const kept = await send('/admin/users/ada/delete', { confirmation: 'ada' })
    t.match(kept.text, /still owns repositories/)
    t.equal((await see('/ada/r')).status, 200)
    await send('/admin/users/ada/delete', { confirmation: 'ada', purge: 'on' })
    t.equal((await see('/ada')).status, 404)
  },
)

/** Secrets in the settings, none of which may be on a page. */
const SECRETS = {
  GATEHOUSE_BLOBS_URL: 's3://blobkey:blobsecret@127.0.0.1:1/bucket?tls=false',
  GATEHOUSE_METRICS_TOKEN: 'metricssecret',
  GATEHOUSE_HTTP_UPSTREAM: 'http://frontuser:frontsecret@127.0.0.1:1/front',
  GATEHOUSE_WEB_ENABLED: 'true',
}
const SECRET = /blobkey|blobsecret|metricssecret|frontuser|frontsecret|dbuser|dbsecret|argon2/

t.test('settings are shown with their values and without secrets', async (t) => {
  const { see, settings, db } = await aSite(t, { environment: SECRETS })
  const key = (await readFile(join(settings.data.dir, 'secret.key'), 'utf8')).trim()
  await enqueueJob(db, { kind: 'k', subject: 's', delayMs: 0 })
  for (const { method, path } of PAGES) {
    if (method !== 'GET') continue
    const { text } = await see(path.replace('{username}', 'ada'))
    t.notMatch(text, SECRET, path)
    t.notOk(text.includes(key), path)
  }
  const { text } = await see('/admin/settings')
  t.match(text, /metrics\.token.*?set \(not shown\)/s)
  t.match(text, /s3: http:\/\/127\.0\.0\.1:1\/bucket\/ \(us-east-1\)/)
  t.match(text, /git\.timeout<\/code><\/th><td><code>2h<.*Maximum duration of a clone/s)
  const environment = { GATEHOUSE_CONFIG: '/dev/null', ...SECRETS }
  const mysql = { GATEHOUSE_DATABASE_URL: 'mysql://dbuser:dbsecret@db.example:3306/forge' }
  const shown = shownSettings(loadSettings({ ...environment, ...mysql }))
  t.notMatch(JSON.stringify(shown), SECRET)
  t.match(JSON.stringify(shown), /mysql: db\.example:3306\/forge/)
  t.strictSame(
    shown.map(({ section, values }) => [section, values.map(({ key }) => key)]),
    Object.entries(SCHEMAS).map(([section, fields]) => [section, Object.keys(fields)]),
  )
})

t.test('registration is opened and closed, and the log names the administrator', async (t) => {
  const { db, see, send, lines } = await aSite(t)
  const path = '/admin/settings/registration'
  for (const [word, isOpen] of [
    ['on', true],
    ['off', false],
  ] as const) {
    t.equal((await send(path, { registration: word })).status, 303)
    t.equal(await isRegistrationOpen(db), isOpen)
    t.match((await see('/admin/settings')).text, new RegExp(`Registration is ${word}`))
    t.match(lines.filter(({ event }) => event === 'registration').at(-1), { admin: 'root', isOpen })
  }
})

t.test('a failed job shows its error and is retried', async (t) => {
  const { db, see, send } = await aSite(t)
  // Far in the future, so that this gateway does not run it before it is retried.
  const dueAtMs = Date.now() + 36_000_000
  const [id = 0] = await db('jobs').insert({
    kind: 'fail',
    subject: '<b>',
    attempts: 1,
    last_error: 'no route to <i>',
    run_after: dueAtMs,
    created_at: 0,
  })
  const { text } = await see('/admin/jobs')
  t.match(text, /fail.*&lt;b(?:>|&gt;).*failed.*no route to &lt;i/s)
  t.equal((await send('/admin/jobs/retry', { id: String(id) })).status, 303)
  t.ok((await db('jobs').where({ id }).first('run_after')).run_after < dueAtMs)
})

t.test('the figures of the pack cache are also given as text beside the plot', async (t) => {
  const { server, see } = await aSite(t)
  server.metrics.countPackCache({ command: 'fetch', outcome: 'hit' })
  server.metrics.countPackCache({ command: 'fetch', outcome: 'hit' })
  server.metrics.countPackCache({ command: 'fetch', outcome: 'join' })
  server.metrics.countPackCache({ command: 'fetch', outcome: 'miss' })
  server.metrics.countPackBytes({ command: 'fetch', outcome: 'hit' }, 2_048)
  const { text } = await see('/admin/cache')
  t.match(text, /from the cache<\/th><td>2<\/td><td>50\.0 %<\/td><td>2\.0 KiB/)
  t.match(text, /<rect class="hit" x="0\.00" width="200\.00"/)
  t.match(text, /<rect class="join" x="200\.00" width="100\.00"/)
  t.notMatch(text, /style=/)
  t.strictSame(readMetrics('# HELP a b\na{b="c",d="e f"} 1.5\nx 2\n\nbroken'), [
    { name: 'a', labels: { b: 'c', d: 'e f' }, value: 1.5 },
    { name: 'x', labels: {}, value: 2 },
  ])
})

t.test('webhooks of the site are created, changed and removed', async (t) => {
  const { db, see, send } = await aSite(t)
  const path = '/admin/hooks'
  const hook = { url: 'https://hooks.example.org/x', content_type: 'json', active: 'on' }
  const webhooks = async () =>
    (await listWebhooks(db, { site: 'all' }, { page: 1, limit: 9 })).entries
  t.match(await send(path, { ...hook, url: 'ftp://x' }), { status: 422, text: /value="ftp:\/\/x"/ })
  t.match(await send(path, { ...hook, url: 'http://169.254.169.254/' }), { status: 422 })
  t.strictSame(await webhooks(), [])
  const fields = { ...hook, secret: 'a secret', event: 'repository' }
  const made = await send(path, { ...fields, kind: 'system' })
  const [system] = await webhooks()
  t.match(made, { status: 303, headers: { location: `${path}/${system?.id}` } })
  t.match(system, { target: 'system', events: ['repository'], isActive: true })
  t.equal((await send(path, { ...hook, kind: 'default' })).status, 303)
  const list = (await see(path)).text
  t.match(list, /copied into new repositories/)
  t.equal(list.split('https://hooks.example.org/x').length - 1, 2)
  const page = await see(`${path}/${system?.id}`)
  t.match(page.text, /There are no deliveries yet/)
  t.notMatch(page.text, /a secret|Send a test/)
  await send(`${path}/${system?.id}`, { ...hook, url: 'https://hooks.example.org/y' })
  const [changed] = await webhooks()
  t.match(changed, { url: 'https://hooks.example.org/y', secretSealed: system?.secretSealed })
  t.equal((await send(`${path}/${system?.id}/redeliver`, { uuid: 'none' })).status, 404)
  t.equal((await send(`${path}/${system?.id}/test`, {})).status, 404)
  t.equal((await send(`${path}/${system?.id}/delete`, {})).headers.location, path)
  t.match(await webhooks(), [{ target: 'default' }])
})
