/** Nullable and optional fields in the terms of Swagger 2.0. */

import t from 'tap'
import { Type } from 'typebox'
import { FILE, nullable, omissible } from '../../../gateway/objects/schema.js'

t.test('a field may be nullable, optional, or not JSON', async (t) => {
  const plain = (value: unknown) => JSON.parse(JSON.stringify(value))
  t.strictSame(plain(nullable(Type.String())), { type: 'string', 'x-nullable': true })
  t.strictSame(plain(omissible(Type.Integer())), { type: 'integer', 'x-omitempty': true })
  const { required } = Type.Object({ a: Type.String(), b: omissible(Type.String()) })
  t.strictSame(required, ['a'])
  t.strictSame(plain(FILE), { type: 'file' })
})
