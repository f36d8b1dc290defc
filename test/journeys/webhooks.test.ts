/** Webhook deliveries to a real HTTP receiver: signatures, retries and crash recovery. */

import { createHmac } from 'node:crypto'
import t from 'tap'
import { type Person, startGatehouse } from '../helpers/gatehouse.js'
import { type Received, startReceiver } from '../helpers/receiver.js'
import { makeRepository } from '../helpers/repositories.js'
import { until } from '../helpers/server-processes.js'
import { newWorkingCopy, type WorkingCopy } from '../helpers/working-copy.js'

const SECRET = 'a secret of ours'

const ENVIRONMENT = {
  GATEHOUSE_OUTBOUND_ALLOW: '127.0.0.0/8',
  GATEHOUSE_WEBHOOKS_RETRY_AFTER: '200ms,200ms,500ms,500ms,1s,1s,1s,1s,1s,1s,1s,1s,1s,1s,1s,1s',
}

interface Input {
  readonly url: string
  readonly content_type?: 'json' | 'form'
  readonly events?: readonly string[]
}

async function addHook(person: Person, path: string, input: Input): Promise<number> {
  const { url, content_type = 'json', events = ['push', 'create', 'delete'] } = input
  const config = { url, content_type, secret: SECRET }
  const body = { type: 'gitea', config, events, active: true }
  const made = await person.api('POST', path, body)
  if (made.status !== 201) throw new Error(`no hook: ${made.status} ${JSON.stringify(made.body)}`)
  return (made.body as { id: number }).id
}

/** Parses a delivery as a receiver does; the signatures are of the payload's raw bytes. */
function read({ headers, body }: Received) {
  const isForm = headers['content-type'] === 'application/x-www-form-urlencoded'
  const payload = isForm
    ? (new URLSearchParams(body.toString()).get('payload') ?? '')
    : body.toString()
  const digest = (algorithm: string) => createHmac(algorithm, SECRET).update(payload).digest('hex')
  const isSigned =
    headers['x-gitea-signature'] === digest('sha256') &&
    headers['x-gogs-signature'] === digest('sha256') &&
    headers['x-hub-signature'] === `sha1=${digest('sha1')}` &&
    headers['x-hub-signature-256'] === `sha256=${digest('sha256')}`
  const event = String(headers['x-gitea-event'])
  const delivery = String(headers['x-gitea-delivery'])
  return { event, delivery, isSigned, payload: JSON.parse(payload) }
}

async function copyOf(t: Teardown, person: Person, repository: string): Promise<WorkingCopy> {
  const copy = await newWorkingCopy(t)
  await copy.git('remote', 'add', 'origin', person.remote(`${repository}.git`))
  return copy
}

interface Teardown {
  teardown(action: () => Promise<unknown>): void
}

const events = (received: readonly Received[]) => received.map((one) => read(one).event)

/** Server of all tests, each with another repository. The last test kills it. */
const gatehouse = await startGatehouse(t, { workers: 1, environment: ENVIRONMENT })
const ada = await gatehouse.addUser('ada')

t.test('pushes are delivered with signatures, as JSON and as a form', async (t) => {
  const name = await makeRepository(ada, 'delivered')
  const json = await startReceiver(t)
  const form = await startReceiver(t)
  await addHook(ada, `/repos/${name}/hooks`, { url: `${json.url}/json` })
  await addHook(ada, '/user/hooks', { url: `${form.url}/form`, content_type: 'form' })
  const copy = await copyOf(t, ada, name)
  const first = await copy.commit('one.txt')
  await copy.git('push', '--quiet', 'origin', 'main')
  for (const { received } of [json, form]) {
    await until(
      async () => received.length,
      (count) => count >= 2,
      20_000,
    )
    t.strictSame(events(received), ['create', 'push'])
    for (const one of received) t.ok(read(one).isSigned)
  }
  t.match(read(json.received[1] as Received).payload, {
    ref: 'refs/heads/main',
    before: '0'.repeat(40),
    after: first,
    total_commits: 1,
    commits: [{ id: first, added: ['one.txt'], removed: [], modified: [] }],
    head_commit: { id: first, message: 'Write one.txt\n' },
    repository: { full_name: name, empty: false },
    pusher: { login: 'ada', username: 'ada' },
    sender: { login: 'ada' },
  })
  t.match(form.received[0]?.headers, {
    'x-gitea-hook-installation-target-type': 'user',
    'x-github-event': 'create',
  })
  const second = await copy.commit('one.txt', 'changed\n')
  await copy.git('tag', 'v1')
  await copy.git('push', '--quiet', 'origin', 'main', 'v1', 'main:refs/heads/side')
  await until(
    async () => json.received.length,
    (count) => count >= 7,
    20_000,
  )
  const deliveries = json.received.slice(2).map((one) => read(one))
  const pushes = deliveries.filter(({ event }) => event === 'push').map(({ payload }) => payload)
  t.match(
    pushes.find(({ ref }) => ref === 'refs/heads/main'),
    { before: first, after: second, commits: [{ modified: ['one.txt'] }] },
  )
  t.match(
    pushes.find(({ ref }) => ref === 'refs/tags/v1'),
    { before: '0'.repeat(40), commits: [], head_commit: { id: second } },
  )
  t.equal(deliveries.filter(({ event }) => event === 'create').length, 2)
  await copy.git('push', '--quiet', 'origin', ':side')
  await until(
    async () => json.received.length,
    (count) => count >= 8,
    20_000,
  )
  t.match(read(json.received[7] as Received), {
    event: 'delete',
    payload: { ref: 'side', ref_type: 'branch', pusher_type: 'user' },
  })
})

t.test('services get messages in their own format', async (t) => {
  const name = await makeRepository(ada, 'chatty')
  const { received, url } = await startReceiver(t)
  for (const type of ['slack', 'matrix']) {
    const config = { url: `${url}/${type}`, content_type: 'form', channel: '#ops' }
    const authorization = type === 'matrix' ? { authorization_header: 'Bearer token' } : {}
    const body = { type, config, events: ['push'], active: true, ...authorization }
    const made = await ada.api('POST', `/repos/${name}/hooks`, body)
    t.match(made, { status: 201, body: { type } })
  }
  const copy = await copyOf(t, ada, name)
  await copy.commit('one.txt')
  await copy.git('push', '--quiet', 'origin', 'main')
  await until(
    async () => received.length,
    (count) => count >= 2,
    20_000,
  )
  const [matrix, slack] = [...received].sort((one, other) => (one.path < other.path ? -1 : 1))
  t.match(matrix, { method: 'PUT', path: /^\/matrix\/[0-9a-f-]{36}$/ })
  t.match(matrix?.headers, { authorization: 'Bearer token', 'content-type': 'application/json' })
  t.match(JSON.parse(String(matrix?.body)), { body: /1 new commit to main by ada/ })
  t.match(JSON.parse(String(slack?.body)), {
    channel: '#ops',
    text: /\|1 new commit> to main by ada/,
  })
})

t.test('a system webhook receives the pushes to all repositories', async (t) => {
  const root = await gatehouse.addUser('root', { isAdmin: true })
  const { received, url } = await startReceiver(t)
  const config = { url, content_type: 'json', secret: SECRET, is_system_webhook: 'true' }
  const body = { type: 'gitea', config, events: ['push'], active: true }
  const made = await root.api('POST', '/admin/hooks', body)
  t.match(made, { status: 201 })
  for (const name of ['first', 'second']) {
    const repository = await makeRepository(ada, name)
    const copy = await copyOf(t, ada, repository)
    await copy.commit('one.txt')
    await copy.git('push', '--quiet', 'origin', 'main')
  }
  await until(
    async () => received.length,
    (count) => count >= 2,
    20_000,
  )
  const names = received.map((one) => read(one).payload.repository.full_name)
  t.strictSame(names, ['ada/first', 'ada/second'])
  t.ok(received.every((one) => read(one).isSigned))
  t.match(received[0]?.headers, { 'x-gitea-hook-installation-target-type': 'system' })
  const { id } = made.body as { id: number }
  t.equal((await root.api('DELETE', `/admin/hooks/${id}`)).status, 204)
})

t.test('a failed delivery is retried until the receiver accepts it', async (t) => {
  const name = await makeRepository(ada, 'retried')
  const down = await startReceiver(t, { answer: (response) => response.writeHead(503).end('no') })
  const hook = await addHook(ada, `/repos/${name}/hooks`, { url: down.url, events: ['push'] })
  const copy = await copyOf(t, ada, name)
  await copy.commit('one.txt')
  await copy.git('push', '--quiet', 'origin', 'main')
  await until(
    async () => down.received.length,
    (count) => count >= 2,
    20_000,
  )
  const listed = await gatehouse.run('webhook', 'deliveries', String(hook))
  t.match(listed.output, /^[0-9a-f-]{36}\tpush\t\S+\twaiting\t[1-9]\d* attempts\t503\n$/)
  const up = await startReceiver(t)
  const config = { url: up.url }
  await ada.api('PATCH', `/repos/${name}/hooks/${hook}`, { config, events: ['push'] })
  await until(
    async () => up.received.length,
    (count) => count >= 1,
    20_000,
  )
  const retried = read(up.received[0] as Received)
  t.equal(retried.delivery, read(down.received[0] as Received).delivery, 'the delivery is the same')
  t.ok(retried.isSigned, 'the secret is kept')
  const again = await gatehouse.run('webhook', 'redeliver', retried.delivery)
  t.equal(again.exitCode, 0, again.errorText)
  await until(
    async () => up.received.length,
    (count) => count >= 2,
    20_000,
  )
  t.equal(read(up.received[1] as Received).delivery, retried.delivery)
})

t.test('deliveries that a killed gateway did not make are made after its next start', async (t) => {
  const name = await makeRepository(ada, 'left')
  const receiver = await startReceiver(t, {
    answer: (response, { path }) => {
      if (path === '/quick') response.writeHead(204).end()
    },
  })
  const hook = await addHook(ada, `/repos/${name}/hooks`, { url: receiver.url, events: ['push'] })
  const copy = await copyOf(t, ada, name)
  const commit = await copy.commit('one.txt')
  await copy.git('push', '--quiet', 'origin', 'main')
  await gatehouse.stop('SIGKILL')
  const before = receiver.received.length
  await gatehouse.start()
  const config = { url: `${receiver.url}/quick` }
  await ada.api('PATCH', `/repos/${name}/hooks/${hook}`, { config, events: ['push'] })
  const isNotified = async () =>
    receiver.received.slice(before).some(({ path }) => path === '/quick')
  await until(isNotified, (is) => is, 60_000)
  const deliveries = receiver.received.filter(({ path }) => path === '/quick').map(read)
  t.match(deliveries[0], { event: 'push', isSigned: true, payload: { after: commit } })
})
