/** Module line of go.mod. */

import t from 'tap'
import { plainGoMod, readModuleLine } from '../../../registry/go/go-mod.js'

t.test('the first module line counts', async (t) => {
  const files: Readonly<Record<string, string | undefined>> = {
    'module x.y/z\n': 'x.y/z',
    'module x.y/z': 'x.y/z',
    '// Deprecated: gone.\r\nmodule x.y/z\r\n\r\ngo 1.19\r\n': 'x.y/z',
    '\n\n  module\t"x.y/z" // here\n': 'x.y/z',
    'module `x.y/z`\n': 'x.y/z',
    'go 1.19\nmodule x.y/z//v\nmodule a.b/c': 'x.y/z',
    '// module a.b/c\nmodule x.y/z': 'x.y/z',
    'modulex.y/z': undefined,
    'module\nx.y/z': undefined,
    'module x.y/z a.b/c\nmodule x.y/z': 'x.y/z a.b/c',
    'module (\nx.y/z\n)': '(',
    'require module v1.0.0': undefined,
    '': undefined,
  }
  for (const [text, path] of Object.entries(files)) {
    t.equal(readModuleLine(text), path, JSON.stringify(text))
  }
  t.equal(readModuleLine(plainGoMod('x.y/z')), 'x.y/z')
})

t.test('a long file is read completely in bounded time', async (t) => {
  const million = 1_000_000
  const texts = [' '.repeat(million), '\n'.repeat(million), '/'.repeat(million)]
  for (const text of texts) t.equal(readModuleLine(text), undefined)
  t.equal(readModuleLine(`module ${'"'.repeat(million)}`), '"'.repeat(million))
  t.equal(readModuleLine(`${'a\n'.repeat(500_000)}module x.y/z`), 'x.y/z')
})
