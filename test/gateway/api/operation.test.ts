/** An operation is one value; what it forgets to declare does not compile. */

import t from 'tap'
import { Type } from 'typebox'
import { defineOperation } from '../../../gateway/api/operation.js'
import { NO_QUERY } from '../../../gateway/api/paging.js'
import { jsonReply } from '../../../gateway/api/surface.js'

const base = {
  id: 'thingGet',
  method: 'GET',
  path: '/thing',
  summary: 'A thing',
  tags: [],
  params: {},
  query: NO_QUERY,
  success: { status: 200, schema: null },
  failures: [],
} as const

t.test('an operation stays the value that it was written as', async (t) => {
  const written = {
    ...base,
    access: { kind: 'anyone' },
    scopes: ['read:misc'],
    handle: async () => jsonReply(200, {}),
  } as const
  t.equal(defineOperation(written) as unknown, written)
})

t.test('an operation without access or scopes does not compile', async (t) => {
  const handle = async () => jsonReply(200, {})
  const access = { kind: 'anyone' } as const
  // @ts-expect-error: the compiler refuses an operation that does not say who may.
  const withoutAccess = defineOperation({ ...base, scopes: [], handle })
  // @ts-expect-error: nor one that does not say what a token needs.
  const withoutScopes = defineOperation({ ...base, access, handle })
  // @ts-expect-error: nor one of a scope that does not exist.
  const withWrongScope = defineOperation({ ...base, access, scopes: ['write:world'], handle })
  t.ok(withoutAccess && withoutScopes && withWrongScope)
})

t.test('a handler is given what its access and schemas say, and nothing else', async (t) => {
  const operation = defineOperation({
    ...base,
    access: { kind: 'signed-in' },
    scopes: [],
    body: Type.Object({ name: Type.String() }),
    async handle(_context, { grant, body }) {
      const [name, login]: [string, string] = [body.name, grant.user.name]
      // @ts-expect-error: no repository was asked of the gate.
      const repository: unknown = grant.repository
      return jsonReply(200, { name, login, repository })
    },
  })
  t.type(operation.handle, 'function')
})
