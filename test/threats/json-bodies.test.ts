/** Threat: JSON bodies with wrong types, of excessive size, or with fields that set the owner. */

import { type Test, t } from 'tap'
import type { TObject } from 'typebox'
import { Failure } from '../../conf/failures.js'
import type { AnyOperation } from '../../gateway/api/operation.js'
import { OPERATIONS } from '../../gateway/api/operations.js'
import { routeOf } from '../../gateway/api/validate.js'
import { aRequest } from '../helpers/a-request.js'
import { chunksOf } from '../helpers/byte-chunks.js'
import { type Person, startGatehouse } from '../helpers/gatehouse.js'
import { type Gateway, startGateway } from '../helpers/gateway.js'
import { pathOf } from '../helpers/operation-paths.js'
import { addPerson } from '../helpers/person.js'
import { pick } from '../helpers/random.js'
import { connectTo, converse } from '../helpers/raw-http.js'
import { withPassword, withToken } from '../helpers/requests.js'
import { forgetPeak, memoryOf, workersOf } from '../helpers/server-processes.js'
import { isFullSize } from '../helpers/test-size.js'

const PARAMS = { repo: 'library', template_repo: 'library', org: 'guild', token: 'test' }

/** Texts that reach the database, git and the file system from any field that permits them. */
const HARDEST_TEXTS = ['a\0b', 'é'.repeat(5_000)]
const OTHER_TEXTS = ['\0', '\ud800', '../x', '-h', '%00', '\u202eexe']

/** Content types that no operation accepts. */
const OTHER_TYPES = ['text/plain', 'application/xml', 'multipart/form-data; boundary=a']

t.test('malformed bodies are refused without effect', async (t) => {
  const gateway = await startGateway(t)
  // An administrator is authorized for every operation, so only the body can be refused.
  const ada = await addPerson(gateway, 'ada', { isAdmin: true })
  const repository = { name: 'library', description: 'as it was', auto_init: true, template: true }
  t.equal((await ada.api('POST', '/user/repos', repository)).status, 201)
  t.equal((await ada.api('POST', '/orgs', { username: 'guild' })).status, 201)
  const before = await stateOf(ada)

  await t.test('a value of another type is refused in every field', async (t) => {
    for (const operation of WITH_BODY) {
      const bodies = [...bodiesOfOtherTypes(operation), ...bodiesOfOtherShapes(operation)]
      await checkRoute(t, { operation, bodies, wanted: 422 })
      // The route has refused all of them. One is also sent to the server, which has that route.
      const sent = isFullSize ? bodies : bodies.slice(0, 1)
      await checkAnswers(t, { gateway, person: ada, operation, bodies: sent, wanted: '422' })
    }
  })
  await t.test('another content type is refused', async (t) => {
    const bodies = OTHER_TYPES.map((type) => ({ name: type, body: '{"a":1}', type }))
    for (const operation of WITH_BODY) await checkRoute(t, { operation, bodies, wanted: 415 })
    for (const operation of isFullSize ? WITH_BODY : WITH_BODY.slice(0, 1)) {
      await checkAnswers(t, { gateway, person: ada, operation, bodies, wanted: '415' })
    }
  })
  t.strictSame(await stateOf(ada), before, 'the state is unchanged')

  await t.test('hostile texts in any field cause no status of 500 or above', async (t) => {
    for (const operation of WITH_BODY) {
      const bodies = bodiesOfHostileTexts(operation)
      await checkAnswers(t, { gateway, person: ada, operation, bodies, wanted: 'below 500' })
    }
    const notText = Buffer.concat([
      Buffer.from('{"name":"'),
      Buffer.from([0xff, 0xc3, 0x28]),
      Buffer.from('"}'),
    ])
    const request = { method: 'POST', path: '/user/repos', body: notText }
    t.equal((await askAs(gateway, ada, request)).status, 422, 'bytes that are not UTF-8')
  })
})

type WithBody = AnyOperation & { readonly body: TObject }

const WITH_BODY = OPERATIONS.filter(
  (operation): operation is WithBody => operation.body !== undefined,
)

interface SentBody {
  /** Description of the fault. */
  readonly name: string
  readonly body: string
  readonly type?: string
}

interface Check {
  readonly gateway: Gateway
  readonly person: Person
  readonly operation: WithBody
  readonly bodies: readonly SentBody[]
  readonly wanted: '415' | '422' | 'below 500'
}

/** Sends the bodies to the operation and compares each reply with the expected one. */
async function checkAnswers(t: Test, check: Check): Promise<void> {
  const { gateway, person, operation, bodies, wanted } = check
  const { id, method } = operation
  const path = pathOf(operation, PARAMS)
  const answers: string[] = []
  for (const { name, body, type } of bodies) {
    const { status } = await askAs(gateway, person, { method, path, body, type })
    const isFine = wanted === 'below 500' && status < 500
    answers.push(`${name}: ${isFine ? wanted : status}`)
  }
  t.strictSame(
    answers,
    bodies.map(({ name }) => `${name}: ${wanted}`),
    id,
  )
}

/** Checks that the operation's route refuses each body before it calls the handler. */
async function checkRoute(
  t: Test,
  {
    operation,
    bodies,
    wanted,
  }: {
    readonly operation: WithBody
    readonly bodies: readonly SentBody[]
    readonly wanted: number
  },
): Promise<void> {
  const route = routeOf({ ...operation, handle: () => ({ status: 200 }) })
  const accepted: string[] = []
  for (const { name, body, type = 'application/json' } of bodies) {
    const headers = new Map([['content-type', type]])
    const request = aRequest({
      method: operation.method,
      headers,
      body: chunksOf(Buffer.from(body)),
    })
    try {
      await route.handle(undefined as never, { request, params: {}, grant: {} } as never)
      accepted.push(name)
    } catch (error) {
      if (!(error instanceof Failure) || error.status !== wanted) throw error
    }
  }
  t.strictSame(accepted, [], `${operation.id} refuses each of ${bodies.length} bodies`)
}

function bodyWith({ body }: WithBody, name: string, value: unknown): SentBody {
  const text = JSON.stringify({ ...requiredFields(body), [name]: value })
  return { name: `${name} = ${JSON.stringify(value).slice(0, 40)}`, body: text }
}

/** Returns a body for each field and each value of a type that is not its own. */
function bodiesOfOtherTypes(operation: WithBody): readonly SentBody[] {
  return Object.entries(operation.body.properties).flatMap(([name, schema]) =>
    valuesOfOtherTypes(schema).map((value) => bodyWith(operation, name, value)),
  )
}

/** Returns bodies that are not an object of the operation's fields. */
function bodiesOfOtherShapes({ body }: WithBody): readonly SentBody[] {
  const texts = ['[]', 'null', '1', '"text"', 'true', '{', '[{}]', '', '\0']
  const hasRequired = Object.keys(requiredFields(body)).length > 0
  const sent = texts.filter((text) => text !== '' || hasRequired)
  const deep = `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`
  const deepList = '['.repeat(10_000) + ']'.repeat(10_000)
  const [field = 'name'] = Object.keys(body.properties)
  return [
    ...sent.map((text) => ({ name: `the whole body is ${text}`, body: text })),
    { name: 'a list of 10,000 levels', body: deepList },
    { name: '10,000 levels', body: `{"${field}":${deep}}` },
  ]
}

/**
 * Returns bodies for each string field: one for each of the hardest texts, and one for another
 * hostile text, chosen at random. At full size they have all texts.
 */
function bodiesOfHostileTexts(operation: WithBody): readonly SentBody[] {
  const fields = Object.entries(operation.body.properties)
  const names = fields
    .filter(([, schema]) => 'type' in schema && schema.type === 'string')
    .map(([name]) => name)
  return names.flatMap((name) => {
    const others = isFullSize ? OTHER_TEXTS : [pick(OTHER_TEXTS)]
    return [...HARDEST_TEXTS, ...others].map((text) => bodyWith(operation, name, text))
  })
}

t.test('extra fields in a body change neither owner nor role', async (t) => {
  const gateway = await startGateway(t)
  const ada = await addPerson(gateway, 'ada')
  const eve = await addPerson(gateway, 'eve')
  const extras =
    '"__proto__":{"is_admin":true,"owner_id":1},"constructor":{"prototype":{"is_admin":true}},' +
    '"is_admin":true,"owner_id":1,"ownerId":1,"id":1,"owner":{"login":"ada"},"storage":"x"'
  const made = await askAs(gateway, eve, {
    method: 'POST',
    path: '/user/repos',
    body: `{"name":"mine",${extras}}`,
  })
  t.equal(made.status, 201)
  t.match(made.body, { full_name: 'eve/mine', owner: { login: 'eve' } })
  const changed = await askAs(gateway, eve, {
    method: 'PATCH',
    path: '/repos/eve/mine',
    body: `{"description":"still mine",${extras}}`,
  })
  t.equal(changed.status, 200)
  t.match(changed.body, { full_name: 'eve/mine', owner: { login: 'eve' } })
  t.match((await eve.api('GET', '/user')).body, { login: 'eve', is_admin: false })
  t.match((await ada.api('GET', '/user')).body, { login: 'ada', is_admin: false })
})

t.test('an endless body is refused at the size limit and does not grow the memory', async (t) => {
  const gatehouse = await startGatehouse(t, { workers: 1 })
  const ada = await gatehouse.addUser('ada')
  const workers = await workersOf(gatehouse.pid)
  await Promise.all(workers.map(forgetPeak))
  const restBytes = Math.max(...(await Promise.all(workers.map(memoryOf))).map((m) => m.nowBytes))
  const head =
    'POST /api/v1/user/repos HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n' +
    `Authorization: token ${ada.token}\r\n`

  const declared = await converse(gatehouse.port, [`${head}Content-Length: 1073741824\r\n\r\n{`])
  t.strictSame(declared.statuses, [413], 'by its declared length')
  t.match(declared.text, /\r\nConnection: close\r\n/)

  const { text, sentBytes } = await sendForever(gatehouse.port, head)
  t.match(text, /^HTTP\/1\.1 413 /, 'by the received bytes')
  // On a busy machine a fast client sends more before the server reads it.
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

interface SentRequest {
  readonly method: string
  /** Path below `/api/v1`. */
  readonly path: string
  readonly body: string | Uint8Array
  readonly type?: string | undefined
}

/** Sends the body unchanged as the user; operations on accounts require the password. */
async function askAs(
  gateway: Gateway,
  { name, password, token }: Person,
  { method, path, body, type = 'application/json' }: SentRequest,
) {
  const isAccount = path.startsWith('/users/')
  const bytes = Buffer.from(body)
  const { status, headers, text } = await gateway.ask({
    method,
    path: `/api/v1${path}`,
    body: bytes,
    headers: { 'content-type': type },
    authorization: isAccount ? withPassword(name, password) : withToken(token),
  })
  const isJson = headers['content-type']?.startsWith('application/json')
  return { status, body: isJson ? (JSON.parse(text) as unknown) : undefined }
}

async function stateOf(person: Person): Promise<unknown> {
  const paths = ['/user', '/user/repos', '/repos/ada/library']
  const answers = await Promise.all(paths.map((path) => person.api('GET', path)))
  // The account has the time of the last sign-in.
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

/** Returns values of all types but the schema's own. */
function valuesOfOtherTypes(schema: object): readonly unknown[] {
  const type = 'type' in schema ? schema.type : 'string'
  const values: ReadonlyArray<readonly [string, unknown]> = [
    ['string', 'a text'],
    ['number', -1.5],
    ['number', 1],
    ['boolean', true],
    ['array', [['a']]],
    ['array', [{ a: 1 }]],
    ['array', []],
    ['object', { a: 1 }],
    ['object', { toString: 1, length: 1 }],
    ['object', {}],
  ]
  const isOther = (kind: string) => kind !== (type === 'integer' ? 'number' : type)
  const others = values.filter(([kind]) => isOther(kind)).map(([, value]) => value)
  return type === 'array' ? [...others, ...listsOfOtherTypes(schema)] : others
}

function listsOfOtherTypes(schema: object): readonly unknown[] {
  const { items } = schema as { items?: { type?: string } }
  // A field that accepts strings and numbers has no type in Swagger 2.0.
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
