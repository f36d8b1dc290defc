/** Declarations of operations; a missing access or scope does not compile. */

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

t.test('an operation is the declared value', async (t) => {
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
  // @ts-expect-error: an operation without access does not compile.
  const withoutAccess = defineOperation({ ...base, scopes: [], handle })
  // @ts-expect-error: an operation without scopes does not compile.
  const withoutScopes = defineOperation({ ...base, access, handle })
  // @ts-expect-error: an operation with an unknown scope does not compile.
  const withWrongScope = defineOperation({ ...base, access, scopes: ['write:world'], handle })
  t.ok(withoutAccess && withoutScopes && withWrongScope)
})

t.test('a handler gets the types of its access and schemas only', async (t) => {
  const operation = defineOperation({
    ...base,
    access: { kind: 'signed-in' },
    scopes: [],
    body: Type.Object({ name: Type.String() }),
    async handle(_context, { grant, body }) {
      const [name, login]: [string, string] = [body.name, grant.user.name]
      // @ts-expect-error: the access grants no repository.
      const repository: unknown = grant.repository
      return jsonReply(200, { name, login, repository })
    },
  })
  t.type(operation.handle, 'function')
})
