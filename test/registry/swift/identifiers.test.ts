/** Scopes and names, by the patterns of the protocol. */

import t from 'tap'
import { formatIdentity, identityOf, parseIdentity } from '../../../registry/swift/identifiers.js'

t.test('identifiers that the protocol allows are accepted', async (t) => {
  const scopes = ['a', '1', 'acme', 'ACME-2', 'a-b-c', 'a'.repeat(39)]
  for (const scope of scopes) t.strictSame(parseIdentity(scope, 'n'), { scope, name: 'n' })
  for (const name of ['a', 'Linked_List', 'Linked-List_2', 'a'.repeat(100)]) {
    t.strictSame(parseIdentity('s', name), { scope: 's', name })
  }
})

t.test('other identifiers are refused', async (t) => {
  const both = ['', '-a', 'a-', 'a--b', 'a.b', 'a b', 'é', 'a\n', '..', '%', 'a/b', '__proto__']
  for (const text of [...both, 'a_b', '_', 'a'.repeat(40), 'a-'.repeat(19)]) {
    t.throws(() => parseIdentity(text, 'n'), { failure: 'bad_request', message: /scope/ }, text)
  }
  for (const text of [...both, '_a', 'a_', 'a__b', 'a-_b', 'a'.repeat(101), 'a-'.repeat(50_000)]) {
    t.throws(() => parseIdentity('s', text), { failure: 'bad_request', message: /name/ }, text)
  }
})

t.test('a package name in the store is scope and name with a dot between', async (t) => {
  const identity = { scope: 'acme', name: 'Hello_2' }
  t.equal(formatIdentity(identity), 'acme.Hello_2')
  t.strictSame(identityOf('acme.Hello_2'), identity)
})
