/** `.gitmodules` is parsed as far as it is valid. */

import t from 'tap'
import { parseModules } from '../../../cgi/objects/modules-file.js'

t.test('a .gitmodules gives the addresses by path', async (t) => {
  const text = [
    '[submodule "a"]',
    '\tpath = lib/a',
    '\turl = https://example.com/a.git',
    '# path = no',
    '[submodule "b"]',
    'URL="../b"',
    'path=b',
    '[submodule "c"]',
    'path = c',
    '[submodule "d"]',
    'path = d',
    'url = x\r',
    '[submodule "e"]',
    'path = e',
    'url = \u001bx',
  ].join('\n')
  t.strictSame(Object.fromEntries(parseModules(text)), {
    'lib/a': 'https://example.com/a.git',
    b: '../b',
    d: 'x',
  })
  t.equal(parseModules('').size, 0)
  t.equal(parseModules('[path]\nurl').size, 0)
})
