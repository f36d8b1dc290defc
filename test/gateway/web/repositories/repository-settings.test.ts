/** Repository settings in the browser: visibility, and effects of the forms. */

import t, { type Test } from 'tap'
import { outcomeOf } from '../../../../gateway/web/webhooks/webhook-deliveries.js'
import { addUserKey } from '../../../../sql/accounts/keys.js'
import type { User } from '../../../../sql/accounts/users.js'
import { setCollaborator } from '../../../../sql/repositories/collaborators.js'
import { listDeployKeys } from '../../../../sql/repositories/deploy-keys.js'
import { findRepository } from '../../../../sql/repositories/repositories.js'
import {
  addDeliveries,
  type Delivery,
  listDeliveries,
} from '../../../../sql/webhooks/webhook-deliveries.js'
import { listWebhooks } from '../../../../sql/webhooks/webhooks.js'
import { aWebhook } from '../../../helpers/deliveries.js'
import { type GatewayOptions, startGateway } from '../../../helpers/gateway.js'
import { passwordOf } from '../../../helpers/passwords.js'
import { startReceiver } from '../../../helpers/receiver.js'
import { withToken } from '../../../helpers/requests.js'
import { until } from '../../../helpers/server-processes.js'
import { aKey, aKeyLine } from '../../../helpers/ssh-keys.js'

const FORM = 'application/x-www-form-urlencoded'
const OWN = '/ada/tool/settings'
type Fields = Readonly<Record<string, string>> | readonly (readonly [string, string])[]

const PLACES = [OWN, `${OWN}/collaboration`, `${OWN}/keys`, `${OWN}/hooks`]

/**
 * Creates ada's repository `tool`; all users can sign in, and `form` and `look` act as their
 * browsers.
 */
async function openFixture(t: Test, options: GatewayOptions = {}) {
  const gateway = await startGateway(t, options)
  const people: Record<string, User> = {}
  const cookies: Record<string, string> = {}
  const post = (path: string, fields: Fields, cookie = '') =>
    gateway.ask({
      method: 'POST',
      path,
      body: new URLSearchParams(fields as Record<string, string>).toString(),
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
    ...gateway,
    people,
    repositoryId,
    /** Sends a form as a user. */
    form: (name: string, path: string, fields: Fields = {}) => post(path, fields, cookies[name]),
    look: (name: string, path: string) =>
      gateway.ask({ path, headers: { cookie: cookies[name] ?? '' } }),
    find: (name: string) => findRepository(gateway.db, 'ada', name),
  }
}

t.test('settings are accessible to administrators of the repository only', async (t) => {
  const { ask, look, form, addToken, people, find } = await openFixture(t)
  for (const path of PLACES) {
    t.equal(
      (await ask({ path })).status,
      303,
      `${path} redirects an anonymous visitor to the sign-in`,
    )
    t.equal((await look('dan', path)).status, 404, path)
    t.equal((await look('bob', path)).status, 403, path)
    t.equal((await look('cleo', path)).status, 200, path)
    t.equal((await form('dan', path)).status, 404, path)
    t.equal((await form('bob', path)).status, 403, path)
  }
  t.notMatch((await look('bob', '/ada/tool')).text, /\/ada\/tool\/settings/)
  t.match((await look('cleo', '/ada/tool')).text, /\/ada\/tool\/settings/)
  const ofAdministrator = (await look('cleo', OWN)).text
  t.match(ofAdministrator, /Prune this repository/)
  t.notMatch(ofAdministrator, /(?:Delete|Transfer) this/, 'an administrator is not its owner')
  t.match((await look('ada', OWN)).text, /Delete this repository/)
  const { plain } = await addToken(people['ada'] as User, 'all')
  t.equal((await ask({ path: OWN, authorization: withToken(plain) })).status, 303)
  const confirmed = { confirm: 'ada/tool', new_owner: 'cleo' }
  t.equal((await form('cleo', `${OWN}/delete`, confirmed)).status, 403)
  t.equal((await form('cleo', `${OWN}/transfer`, confirmed)).status, 403)
  t.ok(await find('tool'))
})

t.test('the first page changes the repository, and reports errors', async (t) => {
  const { look, form, find } = await openFixture(t)
  const sent = {
    name: 'kit',
    description: 'A <b>',
    website: 'https://x.example/',
    has_issues: 'on',
  }
  const changed = await form('cleo', OWN, { ...sent, default_branch: 'main', archived: 'on' })
  t.equal(changed.headers.location, '/ada/kit/settings')
  t.match(await find('kit'), {
    description: 'A <b>',
    website: 'https://x.example/',
    defaultBranch: 'main',
    isPrivate: false,
    isTemplate: false,
    isArchived: true,
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
    t.match(answer.text, /value="A &lt;b(?:&gt;|>)"|x{100}/, 'the form is shown with the input')
  }
  t.match(await find('kit'), { isArchived: true }, 'nothing was changed')
})

t.test('Actions are a feature that is off until it is checked', async (t) => {
  const { look, form, find } = await openFixture(t)
  t.match((await look('ada', OWN)).text, /name="has_actions"\/> Actions/)
  const sent = { name: 'tool', default_branch: 'main' }
  await form('ada', OWN, { ...sent, has_actions: 'on' })
  t.match(await find('tool'), { preferences: { has_actions: true } })
  t.match((await look('ada', OWN)).text, /name="has_actions" checked\/> Actions/)
  await form('ada', OWN, sent)
  t.match(await find('tool'), { preferences: { has_actions: false } })
})

t.test('Actions are absent from the settings if the site does not permit them', async (t) => {
  const environment = { GATEHOUSE_ACTIONS_ENABLED: 'false' }
  const { look, form, find } = await openFixture(t, { environment })
  t.notMatch((await look('ada', OWN)).text, /has_actions/)
  const sent = { name: 'tool', default_branch: 'main', has_actions: 'on' }
  t.equal((await form('ada', OWN, sent)).status, 303)
  t.notMatch(await find('tool'), { preferences: { has_actions: true } })
})

t.test('a repository is transferred or deleted when its name is typed', async (t) => {
  const { form, find, look, addOrganization, people } = await openFixture(t)
  await addOrganization('acme', people['ada'] as User)
  for (const confirm of ['', 'tool', 'ADA/TOOL', 'ada/other']) {
    for (const action of ['delete', 'transfer']) {
      const answer = await form('ada', `${OWN}/${action}`, { confirm, new_owner: 'acme' })
      t.equal(answer.status, 422)
      t.match(answer.text, /Not confirmed.* Type ada\/tool to confirm/)
    }
  }
  t.ok(await find('tool'))
  const confirm = 'ada/tool'
  const wrong = await form('ada', `${OWN}/transfer`, { confirm, new_owner: 'ada' })
  t.match(wrong.text, /already has this owner/)
  const nobody = await form('ada', `${OWN}/transfer`, { confirm, new_owner: 'nobody' })
  t.match(nobody.text, /There is no user or organization with this name/)
  const moved = await form('ada', `${OWN}/transfer`, { confirm, new_owner: 'acme' })
  t.equal(moved.headers.location, '/acme/tool')
  const end = await form('ada', '/acme/tool/settings/delete', { confirm: 'acme/tool' })
  t.equal(end.headers.location, '/acme')
  t.equal((await look('ada', '/acme/tool')).status, 404)
})

t.test('the new owner accepts or rejects a transfer on the page of the repository', async (t) => {
  const { form, look, db } = await openFixture(t)
  await db('repositories').where({ name_lower: 'tool' }).update({ is_private: true })
  const offer = { confirm: 'ada/tool', new_owner: 'dan' }
  t.equal((await form('ada', `${OWN}/transfer`, offer)).headers.location, '/ada/tool')
  t.match((await look('ada', '/ada/tool')).text, /offered to dan, who has to accept/)
  t.notMatch((await look('ada', '/ada/tool')).text, /Accept the transfer/)
  t.match((await look('dan', '/')).text, /Offered to you.*ada\/tool/)
  t.match((await look('dan', '/ada/tool')).text, /Accept the transfer/)
  t.match((await look('ada', OWN)).text, /Cancel the pending transfer/)
  t.equal((await form('dan', `${OWN}/transfer/delete`, {})).status, 403)
  t.match((await form('ada', `${OWN}/transfer/delete`, {})).text, /The transfer is canceled/)
  t.equal((await look('dan', '/ada/tool')).status, 404)

  await form('ada', `${OWN}/transfer`, offer)
  t.equal((await form('dan', '/ada/tool/transfer/reject', {})).headers.location, '/')
  t.equal((await look('dan', '/ada/tool')).status, 404)
  await form('ada', `${OWN}/transfer`, offer)
  const accepted = await form('dan', '/ada/tool/transfer/accept', {})
  t.equal(accepted.headers.location, '/dan/tool')
  t.equal((await look('dan', '/dan/tool')).status, 200)
})

t.test('a repository is pruned when its name is typed', async (t) => {
  const { form, db, lines, repositoryId } = await openFixture(t)
  const confirm = 'ada/tool'
  t.equal((await form('bob', `${OWN}/prune`, { confirm })).status, 403)
  t.equal((await form('cleo', `${OWN}/prune`, {})).status, 422)
  const wrong = await form('cleo', `${OWN}/prune`, { confirm, commit: 'main' })
  t.match(wrong, { status: 422, text: /The commit is not a full id/ })
  t.strictSame(await db('jobs').where({ kind: 'prune-repository' }), [])
  const commit = '1'.repeat(40)
  const asked = await form('cleo', `${OWN}/prune`, { confirm, commit, now: 'on' })
  t.match(asked, { status: 200, text: /is being pruned/ })
  await until(
    async () => lines.some(({ msg }) => msg === 'a repository was pruned'),
    Boolean,
    30_000,
  )
  t.match(
    lines.find(({ msg }) => msg === 'a repository was pruned'),
    { repository: repositoryId, removed: 0 },
  )
})

t.test('collaborators are added, changed and removed', async (t) => {
  const { form, look } = await openFixture(t)
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
    [{ user: 'ada', mode: 'read' }, 422, /owner of a repository cannot be its collaborator/],
    [{ user: 'nobody', mode: 'read' }, 404, /There is no user or organization with this name/],
    [{ user: 'bob', mode: 'owner' }, 422, /Choose a permission/],
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

t.test(
  'a deploy key is added once, for reading or writing, and refused with a message',
  async (t) => {
    const { db, form, look, people, repositoryId } = await openFixture(t)
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
    t.equal((await keys()).length, 2, 'the key of another repository is not deleted')
    t.equal((await form('ada', `${path}/delete`, { id: String(first?.id) })).status, 303)
    t.match(await keys(), [{ title: 'bot' }])
  },
)

const HOOK = { url: 'https://hooks.example.org/x', content_type: 'json', active: 'on' }

t.test('a webhook is created and changed, and its secret is never shown', async (t) => {
  const { db, form, look, repositoryId } = await openFixture(t)
  const path = `${OWN}/hooks`
  const sent = { ...HOOK, secret: 'the key', authorization: 'Bearer of all' }
  const events = [['event', 'issues_only'] as const, ['event', 'push'] as const]
  const made = await form('cleo', path, [...Object.entries(sent), ...events])
  t.equal(made.status, 303)
  const find = async () =>
    (await listWebhooks(db, { repositoryId }, { page: 1, limit: 9 })).entries[0]
  const first = await find()
  const own = `${path}/${first?.id}`
  t.equal(made.headers.location, own)
  t.match(first, { url: HOOK.url, events: ['push', 'issues'], isActive: true })
  t.ok(first?.secretSealed && first.authorizationSealed)
  const shown = (await look('cleo', own)).text + (await look('cleo', path)).text
  t.notMatch(shown, /the key|Bearer of all/)
  t.match(shown, /value="issues_only" checked/)
  t.match(shown, /Remove: Secret/)
  t.equal(
    (await form('cleo', own, { ...HOOK, content_type: 'form', event: 'release' })).status,
    303,
  )
  t.match(await find(), {
    contentType: 'form',
    events: ['release'],
    secretSealed: first?.secretSealed,
  })
  await form('cleo', own, { ...HOOK, forget_secret: 'on', branch_filter: 'main' })
  t.match(await find(), { secretSealed: undefined, events: ['push'], branchFilter: 'main' })
  for (const [fields, sentence] of [
    [{ url: 'http://10.0.0.1/' }, /host &#39;10\.0\.0\.1&#39;|host '10\.0\.0\.1' has an address/],
    [{ url: 'http://[::ffff:10.0.0.1]:80/' }, /has an address that is not allowed/],
    [{ url: 'http://0xa9fea9fe/latest' }, /has an address that is not allowed/],
    [{ url: 'ftp://x.example/' }, /Invalid url/],
    [{ url: `https://x.example/${'y'.repeat(2_000)}` }, /more than 2000 characters/],
    [{ content_type: 'xml' }, /Invalid content type/],
    [{ branch_filter: '{a' }, /Invalid branch filter/],
    [{ authorization: 'a\r\nb' }, /Invalid authorization header/],
  ] as const) {
    for (const where of [path, own]) {
      const answer = await form('cleo', where, { ...HOOK, secret: 'sent', ...fields })
      t.equal(answer.status, 422)
      t.match(answer.text, sentence)
      t.notMatch(answer.text, /value="sent"/)
    }
  }
  t.equal((await form('bob', `${own}/delete`)).status, 403)
  t.equal((await form('cleo', `${own}/delete`)).status, 303)
  t.equal((await look('cleo', own)).status, 404)
})

t.test('a webhook is tested, redelivered, and shows what was sent', async (t) => {
  const { db, form, look, repositoryId } = await openFixture(t)
  const { url, received } = await startReceiver(t, {
    answer: (response) => response.writeHead(202).end('<b>thanks'),
  })
  await form('ada', `${OWN}/hooks`, { ...HOOK, url })
  const [webhook] = (await listWebhooks(db, { repositoryId }, { page: 1, limit: 9 })).entries
  const own = `${OWN}/hooks/${webhook?.id}`
  const last = async () => (await listDeliveries(db, webhook?.id ?? 0, 9))[0]
  const delivered = () => until(last, (delivery) => delivery?.isDelivered === true, 20_000)
  t.equal((await form('cleo', `${own}/test`)).status, 303)
  const { uuid = '' } = (await delivered()) ?? {}
  const { text } = await look('cleo', own)
  t.match(text, /Delivered: the receiver responded with 202/)
  t.match(text, /X-Gitea-Event: push/)
  t.match(text, /&lt;b>thanks|&lt;b&gt;thanks/)
  t.equal((await form('cleo', `${own}/redeliver`, { uuid })).status, 303)
  const count = async () => received.length
  t.equal(await until(count, (times) => times > 1, 20_000), 2, 'it is delivered again')
  await delivered()

  await form('dan', '/repo/create', { name: 'own' })
  const other = await aWebhook(db, { repositoryId: repositoryId + 1 }, { isActive: false })
  const foreign = `/dan/own/settings/hooks/${other.id}`
  t.equal((await look('dan', foreign)).status, 200)
  t.equal((await look('dan', `/dan/own/settings/hooks/${webhook?.id}`)).status, 404)
  const taken = await form('dan', `${foreign}/redeliver`, { uuid })
  t.equal(taken.status, 404)
  t.match(taken.text, /delivery no longer exists/)
  t.match(await last(), { isDelivered: true }, 'a delivery of another webhook is unchanged')
  t.match((await form('dan', `${foreign}/test`)).text, /no commit to send/)
  const payload = JSON.stringify({ text: `${'<'.repeat(9_000)}end` })
  await addDeliveries(db, [{ webhookId: other.id, uuid: 'long', event: 'push', payload }])
  const long = (await look('dan', foreign)).text
  t.match(long, /Request body \(beginning\)/)
  t.notMatch(long, /&lt;end/, 'a long text is cut')
})

t.test('the result of a delivery is shown as a sentence', async (t) => {
  const delivery: Delivery = {
    id: 1,
    webhookId: 1,
    uuid: 'u',
    event: 'push',
    payload: '{}',
    createdAtMs: 0,
    attempts: 1,
    nextAtMs: undefined,
    isDelivered: false,
    lastAttempt: undefined,
  }
  const attempt = { atMs: 0, requestHeaders: {}, responseHeaders: {}, responseBody: '', error: '' }
  const failed = { ...attempt, status: 500 }
  for (const [fields, sentence] of [
    [{ attempts: 0, nextAtMs: 5 }, 'It is waiting to be sent.'],
    [{ isDelivered: true, lastAttempt: { ...attempt, status: 204 } }, 'responded with 204'],
    [{ lastAttempt: failed }, 'responded with 500. It failed after one attempt.'],
    [{ lastAttempt: failed, nextAtMs: 300_000 }, '500. The next attempt is in 5 minutes.'],
    [{ lastAttempt: failed, nextAtMs: 5, attempts: 2 }, 'The next attempt is in a moment.'],
    [
      { lastAttempt: { ...attempt, status: undefined, error: 'No.' }, attempts: 3 },
      'No. It failed',
    ],
  ] as const) {
    t.ok(outcomeOf({ ...delivery, ...fields }, 0).includes(sentence), sentence)
  }
})
