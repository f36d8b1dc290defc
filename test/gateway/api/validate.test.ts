/** Query parameters are converted; bodies are validated and refused with the field at fault. */

import t, { type Test } from 'tap'
import { Type } from 'typebox'
import { Failure } from '../../../conf/failures.js'
import type { Request } from '../../../conf/http.js'
import { defineOperation } from '../../../gateway/api/operation.js'
import { jsonReply } from '../../../gateway/api/surface.js'
import { routeOf } from '../../../gateway/api/validate.js'
import { ANONYMOUS } from '../../../gateway/auth/authenticate.js'
import type { Context } from '../../../gateway/request/context.js'
import type { Route } from '../../../gateway/request/route.js'
import { openContext } from '../../helpers/gateway.js'

const route = routeOf(
  defineOperation({
    id: 'thingMake',
    method: 'POST',
    path: '/things',
    summary: '',
    tags: [],
    params: {},
    access: { kind: 'anyone' },
    scopes: [],
    failures: [],
    query: Type.Object({
      page: Type.Optional(Type.Integer()),
      open: Type.Optional(Type.Boolean()),
      q: Type.Optional(Type.String()),
    }),
    body: Type.Object({
      name: Type.String({ minLength: 1 }),
      auto_init: Type.Optional(Type.Boolean()),
      count: Type.Optional(Type.Integer()),
      list: Type.Optional(Type.Array(Type.String())),
      inner: Type.Optional(Type.Object({ deep: Type.Boolean() })),
      state: Type.Optional(Type.Enum(['open', 'closed'])),
    }),
    success: { status: 200, schema: null },
    handle: async (_context, { query, body }) => jsonReply(200, { query, body }),
  }),
)

async function* chunks(...parts: readonly (string | Uint8Array)[]) {
  for (const part of parts) yield Buffer.from(part)
}

function aRequest(body: AsyncIterable<Uint8Array>): Request {
  return {
    id: '1',
    method: 'POST',
    path: '/api/v1/things',
    query: '',
    headers: new Map(),
    address: '',
    scheme: 'http',
    body,
    signal: new AbortController().signal,
  }
}

/** Returns a function that gives the handler's input, or `status message`. */
function asker(context: Context) {
  return async (
    body: string | Uint8Array,
    { query = '', type, length }: { query?: string; type?: string; length?: number } = {},
  ): Promise<unknown> => {
    const headers = new Map([
      ...(type === undefined ? [] : [['content-type', type] as const]),
      ...(length === undefined ? [] : [['content-length', String(length)] as const]),
    ])
    const request = { ...aRequest(chunks(body)), query, headers }
    try {
      const call = { request, params: {}, grant: { who: ANONYMOUS } }
      const reply = await (route as Route<'anyone'>).handle(context, call)
      return JSON.parse(String(reply.body))
    } catch (error) {
      if (error instanceof Failure) return `${error.status} ${error.message}`
      throw error
    }
  }
}

async function open(t: Test) {
  return asker((await openContext(t)).context)
}

t.test('query parameters are converted, and invalid ones are left out', async (t) => {
  const ask = await open(t)
  const queryOf = async (query: string) =>
    ((await ask('{"name":"x"}', { query })) as { query: unknown }).query
  t.strictSame(await queryOf(''), {})
  t.strictSame(await queryOf('page=2&q=a%20b+c&open=true'), { page: 2, q: 'a b c', open: true })
  t.strictSame(await queryOf('page=-1&open=0'), { page: -1, open: false })
  for (const bad of ['page=', 'page=abc', 'page=1.5', 'page=1e3', `page=${'9'.repeat(16)}`]) {
    t.strictSame(await queryOf(bad), {}, bad)
  }
  t.strictSame(await queryOf('page=1&page=2&other=x&__proto__=y'), { page: 1 })
  t.strictSame(await queryOf('q=%ff'), { q: '\ufffd' })
})

t.test('a valid body is passed unchanged, with its unknown fields', async (t) => {
  const ask = await open(t)
  const body = { name: 'x', auto_init: false, count: 0, list: [], inner: { deep: true } }
  t.strictSame(await ask(JSON.stringify(body)), { query: {}, body })
  t.match(await ask('\n {"name": "ä☃"} '), { body: { name: 'ä☃' } })
  for (const type of [
    'application/json',
    'Application/JSON; charset=utf-8',
    'application/a+json',
  ]) {
    t.match(await ask('{"name":"x"}', { type }), { body: { name: 'x' } }, type)
  }
})

t.test('an invalid body is refused with its field, in the names that clients know', async (t) => {
  const ask = await open(t)
  t.equal(await ask(''), '422 [Name]: Required')
  t.equal(await ask('{}'), '422 [Name]: Required')
  t.equal(await ask('{"name":""}'), '422 [Name]: Required')
  t.match(await ask('{"name":null}'), /^422 \[Name\]: /)
  t.match(await ask('{"name":"x","auto_init":"true"}'), /^422 \[AutoInit\]: /)
  t.match(await ask('{"name":"x","auto_init":1}'), /^422 \[AutoInit\]: /)
  t.match(await ask('{"name":"x","count":"1"}'), /^422 \[Count\]: /)
  t.match(await ask('{"name":"x","count":1.5}'), /^422 \[Count\]: /)
  t.match(await ask('{"name":"x","list":["a",1]}'), /^422 \[List\]: /)
  t.match(await ask('{"name":"x","list":[null]}'), /^422 \[List\]: /)
  t.match(await ask('{"name":"x","inner":{}}'), /^422 \[\w+\]: /)
})

t.test('the rest of a path is decoded with its slashes', async (t) => {
  const { context } = await openContext(t)
  const operation = defineOperation({
    id: 'fileGet',
    method: 'GET',
    path: '/files/{filepath...}',
    summary: '',
    tags: [],
    access: { kind: 'anyone' },
    scopes: [],
    failures: [],
    query: Type.Object({}),
    params: { filepath: 'Path of the file.' },
    success: { status: 200, schema: null },
    handle: async (_context, { params }) => jsonReply(200, params),
  })
  const { handle } = routeOf(operation) as Route<'anyone'>
  for (const [sent, read] of [
    ['a/b', 'a/b'],
    ['a%2Fb', 'a/b'],
    ['%41%20%2525/', 'A %25/'],
  ] as const) {
    const params = { filepath: sent }
    const request = aRequest(chunks())
    const reply = await handle(context, { request, params, grant: { who: ANONYMOUS } })
    t.equal(reply.body, JSON.stringify({ filepath: read }), sent)
  }
  const request = aRequest(chunks())
  const params = { filepath: '%ff' }
  const wrong = async () => handle(context, { request, params, grant: { who: ANONYMOUS } })
  await t.rejects(wrong, /malformed percent-encoding/)
})

t.test('null counts as a missing field, because clients in Go send it', async (t) => {
  const ask = await open(t)
  t.strictSame(await ask('{"name":"x","list":null}'), { query: {}, body: { name: 'x' } })
})

t.test('a body that is not a JSON object is refused', async (t) => {
  const ask = await open(t)
  for (const text of ['{', '{"name":}', 'name=x', '{"name":"x"}}', '\ufeff', "{'name':'x'}"]) {
    t.equal(await ask(text), '422 []: the body is not JSON', text)
  }
  for (const text of ['null', '[]', '"x"', '7', 'true']) t.match(await ask(text), /^422 \[/, text)
})

t.test('a body of too many values is refused before it is parsed', async (t) => {
  const ask = await open(t)
  const bodyOf = (count: number) => `{"name":"x","list":[${'1,'.repeat(count)}1]}`
  t.equal(await ask(bodyOf(20_000)), '422 []: the body has more than 20000 values')
  t.equal(await ask('['.repeat(1_000_000)), '422 []: the body has more than 20000 values')
  t.notMatch(await ask(bodyOf(19_000)), /more than 20000 values/)
  const text = JSON.stringify({ name: '[,{'.repeat(20_000) })
  t.notMatch(await ask(text), /more than 20000 values/, 'the contents of strings do not count')
})

t.test('property names of prototypes are ordinary unknown fields', async (t) => {
  const ask = await open(t)
  const text = '{"name":"x","__proto__":{"auto_init":true},"constructor":1}'
  t.strictSame(await ask(text), { query: {}, body: { name: 'x', constructor: 1 } })
  t.equal(({} as Record<string, unknown>)['auto_init'], undefined)
})

t.test('an optional enumeration that is empty is ignored', async (t) => {
  const ask = await open(t)
  t.strictSame(await ask('{"name":"x","state":""}'), { query: {}, body: { name: 'x' } })
  t.match(await ask('{"name":"x","state":"other"}'), /^422 \[State\]/)
})

t.test('a form is converted to the types of the schema', async (t) => {
  const ask = await open(t)
  const type = 'application/x-www-form-urlencoded; charset=utf-8'
  t.strictSame(await ask('name=a+b&auto_init=true&count=3&list=x&list=y&other=1', { type }), {
    query: {},
    body: { name: 'a b', auto_init: true, count: 3, list: ['x', 'y'] },
  })
  t.equal(await ask('count=3', { type }), '422 [Name]: Required')
})

t.test('another content type is refused unless the body is empty', async (t) => {
  const ask = await open(t)
  for (const type of ['text/plain', 'json', 'multipart/x']) {
    t.equal(await ask('{"name":"x"}', { type }), '415 The body must be application/json.', type)
  }
  t.equal(await ask('', { type: 'text/plain' }), '422 [Name]: Required')
})

t.test(
  'a body over the size limit is refused, whether by its length or while it is read',
  async (t) => {
    const ask = await open(t)
    const large = JSON.stringify({ name: 'x'.repeat(1_048_576) })
    t.match(await ask(large), /^413 /)
    t.match(await ask('{"name":"x"}', { length: 1_048_577 }), /^413 /)
  },
)
