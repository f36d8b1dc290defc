/** Bodies that lie about their type, their size or their author: refused, and nothing changes. */

import { t } from 'tap'
import type { TObject } from 'typebox'
import { OPERATIONS } from '../../gateway/api/v1/operations.js'
import { type Gatehouse, type Person, startGatehouse } from '../helpers/gatehouse.js'
import { pathOf } from '../helpers/operation-paths.js'
import { connectTo, converse } from '../helpers/raw-http.js'
import { forgetPeak, memoryOf, workersOf } from '../helpers/server-processes.js'

const PARAMS = { repo: 'library', template_repo: 'library', org: 'guild', token: 'test' }

const HOSTILE_TEXTS = ['\0', 'a\0b', '\ud800', '../x', '-h', '%00', '\u202eexe', 'é'.repeat(5_000)]

t.test('bodies that lie', async (t) => {
  const gatehouse = await startGatehouse(t)
  // Whom the gate lets through everywhere, so that it is the body that is refused.
  const ada = await gatehouse.addUser('ada', { isAdmin: true })
  const repository = { name: 'library', description: 'as it was', auto_init: true, template: true }
  t.equal((await ada.api('POST', '/user/repos', repository)).status, 201)
  t.equal((await ada.api('POST', '/orgs', { username: 'guild' })).status, 201)
  const ask = (method: string, path: string, body: string | Uint8Array, type?: string) =>
    askAs(gatehouse, ada, { method, path, body, type })
  const before = await stateOf(ada)

  for (const operation of OPERATIONS) {
    if (operation.body === undefined) continue
    const { id, method } = operation
    const path = pathOf(operation, PARAMS)
    const fields = Object.entries((operation.body as TObject).properties)
    await t.test(`${id}: a value of another type is refused in every field`, async (t) => {
      for (const [name, schema] of fields) {
        for (const value of valuesOfOtherTypes(schema)) {
          const body = JSON.stringify({
            ...requiredFields(operation.body as TObject),
            [name]: value,
          })
          const { status } = await ask(method, path, body)
          t.equal(status, 422, `${name} = ${JSON.stringify(value)}`)
        }
      }
      for (const body of ['[]', 'null', '1', '"text"', 'true', '{', '[{}]', '', '\0']) {
        if (body === '' && Object.keys(requiredFields(operation.body as TObject)).length === 0)
          continue
        t.equal((await ask(method, path, body)).status, 422, `the whole body is ${body}`)
      }
      const deep = `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`
      const deepList = '['.repeat(10_000) + ']'.repeat(10_000)
      t.equal((await ask(method, path, deepList)).status, 422, 'a list of 10,000 levels')
      const [field] = fields[0] ?? ['name']
      t.equal((await ask(method, path, `{"${field}":${deep}}`)).status, 422, '10,000 levels')
    })
    await t.test(`${id}: another content type is refused`, async (t) => {
      for (const type of ['text/plain', 'application/xml', 'multipart/form-data; boundary=a']) {
        t.equal((await ask(method, path, '{"a":1}', type)).status, 415, type)
      }
    })
  }
  t.strictSame(await stateOf(ada), before, 'nothing has changed')

  await t.test('no text of any field breaks the server', async (t) => {
    for (const operation of OPERATIONS) {
      if (operation.body === undefined) continue
      const path = pathOf(operation, PARAMS)
      const fields = Object.entries((operation.body as TObject).properties)
      for (const [name] of fields.filter(
        ([, schema]) => 'type' in schema && schema.type === 'string',
      )) {
        for (const text of HOSTILE_TEXTS) {
          const body = JSON.stringify({
            ...requiredFields(operation.body as TObject),
            [name]: text,
          })
          const { status } = await ask(operation.method, path, body)
          t.ok(
            status < 500,
            `${operation.id}: ${name} = ${JSON.stringify(text).slice(0, 20)}: ${status}`,
          )
        }
      }
    }
    const notText = Buffer.concat([
      Buffer.from('{"name":"'),
      Buffer.from([0xff, 0xc3, 0x28]),
      Buffer.from('"}'),
    ])
    t.equal((await ask('POST', '/user/repos', notText)).status, 422, 'bytes that are not UTF-8')
  })
})

t.test('nobody becomes somebody else by a field', async (t) => {
  const gatehouse = await startGatehouse(t)
  const ada = await gatehouse.addUser('ada')
  const eve = await gatehouse.addUser('eve')
  const extras =
    '"__proto__":{"is_admin":true,"owner_id":1},"constructor":{"prototype":{"is_admin":true}},' +
    '"is_admin":true,"owner_id":1,"ownerId":1,"id":1,"owner":{"login":"ada"},"storage":"x"'
  const made = await askAs(gatehouse, eve, {
    method: 'POST',
    path: '/user/repos',
    body: `{"name":"mine",${extras}}`,
  })
  t.equal(made.status, 201)
  t.match(made.body, { full_name: 'eve/mine', owner: { login: 'eve' } })
  const changed = await askAs(gatehouse, eve, {
    method: 'PATCH',
    path: '/repos/eve/mine',
    body: `{"description":"still mine",${extras}}`,
  })
  t.equal(changed.status, 200)
  t.match(changed.body, { full_name: 'eve/mine', owner: { login: 'eve' } })
  t.match((await eve.api('GET', '/user')).body, { login: 'eve', is_admin: false })
  t.match((await ada.api('GET', '/user')).body, { login: 'ada', is_admin: false })
})

t.test('a body without an end is refused at its bound, and takes no memory', async (t) => {
  const gatehouse = await startGatehouse(t)
  const ada = await gatehouse.addUser('ada')
  const workers = await workersOf(gatehouse.pid)
  await Promise.all(workers.map(forgetPeak))
  const restBytes = Math.max(...(await Promise.all(workers.map(memoryOf))).map((m) => m.nowBytes))
  const head =
    'POST /api/v1/user/repos HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n' +
    `Authorization: token ${ada.token}\r\n`

  const declared = await converse(gatehouse.port, [`${head}Content-Length: 1073741824\r\n\r\n{`])
  t.strictSame(declared.statuses, [413], 'by its declared length')
  t.ok(declared.isClosed)

  const { text, sentBytes } = await sendForever(gatehouse.port, head)
  t.match(text, /^HTTP\/1\.1 413 /, 'by what has come')
  // On a busy machine a fast sender brings more before it is heard.
  t.ok(sentBytes < 1_000_000_000, `after ${sentBytes} bytes`)
  const peaks = (await Promise.all(workers.map(memoryOf))).map(({ peakBytes }) => peakBytes)
  t.ok(Math.max(...peaks) < restBytes + 50_000_000, `${peaks} from ${restBytes}`)
})

async function sendForever(port: number, head: string) {
  const socket = await connectTo(port)
  let text = ''
  let sentBytes = 0
  const chunk = Buffer.from(`10000\r\n${' '.repeat(0x10000)}\r\n`)
  socket.on('data', (data) => {
    text += data.toString('latin1')
  })
  socket.write(`${head}Transfer-Encoding: chunked\r\n\r\n`)
  await new Promise<void>((resolve) => {
    socket.on('close', () => resolve())
    const send = () => {
      if (socket.destroyed || text !== '') return
      sentBytes += chunk.length
      // A write that fails would end the socket before the answer is read.
      socket.write(chunk, () => setTimeout(send, 2))
    }
    send()
  })
  return { text, sentBytes }
}

interface Question {
  readonly method: string
  /** Below `/api/v1`. */
  readonly path: string
  readonly body: string | Uint8Array
  readonly type?: string | undefined
}

/** Asks as the user, with a body as it stands; an account's own operations want the password. */
async function askAs(
  { port }: Gatehouse,
  { name, password, token }: Person,
  { method, path, body, type = 'application/json' }: Question,
) {
  const basic = `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`
  const authorization = path.startsWith('/users/') ? basic : `token ${token}`
  const response = await fetch(`http://127.0.0.1:${port}/api/v1${path}`, {
    method,
    headers: { authorization, 'content-type': type },
    body,
  })
  const text = await response.text()
  return { status: response.status, body: text === '' ? undefined : (JSON.parse(text) as unknown) }
}

async function stateOf(person: Person): Promise<unknown> {
  const paths = ['/user', '/user/repos', '/repos/ada/library']
  const answers = await Promise.all(paths.map((path) => person.api('GET', path)))
  // Signing in is noted in the account.
  return JSON.parse(
    JSON.stringify(
      answers.map(({ body }) => body),
      withoutTimes,
    ),
  )
}

function withoutTimes(key: string, value: unknown): unknown {
  return key === 'last_login' ? undefined : value
}

function valuesOfOtherTypes(schema: object): readonly unknown[] {
  const type = 'type' in schema ? schema.type : 'string'
  const values: ReadonlyArray<readonly [string, unknown]> = [
    ['string', 'a text'],
    ['number', 1],
    ['number', -1.5],
    ['boolean', true],
    ['array', []],
    ['array', [['a']]],
    ['array', [{ a: 1 }]],
    ['object', {}],
    ['object', { a: 1 }],
    ['object', { toString: 1, length: 1 }],
  ]
  const isOther = (kind: string) => kind !== (type === 'integer' ? 'number' : type)
  const others = values.filter(([kind]) => isOther(kind)).map(([, value]) => value)
  return type === 'array' ? [...others, ...listsOfOtherTypes(schema)] : others
}

function listsOfOtherTypes(schema: object): readonly unknown[] {
  const { items } = schema as { items?: { type?: string } }
  // What takes texts and numbers has no type in Swagger 2.0.
  if (items?.type === undefined) return []
  const values = { array: ['a'], object: { a: 1 }, integer: 1, null: null }
  return Object.entries(values)
    .filter(([kind]) => kind !== items.type)
    .map(([, value]) => [value])
}

function requiredFields(schema: TObject): Record<string, unknown> {
  const names = schema.required ?? []
  return Object.fromEntries(names.map((name) => [name, `valid-${name}`]))
}
