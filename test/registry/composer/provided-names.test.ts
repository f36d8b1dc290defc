/** The names that a package provides are read from its composer.json. */

import t from 'tap'
import type { Json } from '../../../conf/package.js'
import { providedNames } from '../../../registry/composer/provided-names.js'

const namesOf = (provide: Json) => providedNames({ fields: { provide } })

t.test(
  'provided names are in lower case, without those that no requirement can have',
  async (t) => {
    t.strictSame(providedNames({ fields: {} }), [])
    t.strictSame(namesOf(null), [])
    t.strictSame(namesOf([]), [])
    const provide = {
      'Psr/Log': '1',
      'psr/log': '2',
      'ext-json': '*',
      'a b': '*',
      ['x'.repeat(256)]: '*',
    }
    t.strictSame(namesOf(provide), ['psr/log', 'ext-json'])
  },
)

t.test('of many provided names, the first hundred are read', async (t) => {
  const names = Array.from({ length: 150 }, (_, n) => `acme/n${n}`)
  t.strictSame(namesOf(Object.fromEntries(names.map((name) => [name, '*']))), names.slice(0, 100))
})
