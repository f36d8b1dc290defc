/** Module line and retractions of go.mod. */

import t from 'tap'
import { plainGoMod, readModuleLine, readRetractions } from '../../../registry/go/go-mod.js'
import { isInRange } from '../../../registry/go/module-version.js'

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

t.test('retracted versions are read from lines and blocks', async (t) => {
  const goMod = [
    'module x.y/z',
    'retract v1.0.0 // a mistake',
    'retract [v1.2.0, v1.3.0]',
    'require x.y/other v9.0.0',
    'retract (',
    '\tv1.5.0',
    '\t[ "v1.6.0" , v1.6.9 ]\r',
    '\tnot a version',
    ')',
    'retracted v1.9.0',
  ].join('\n')
  const ranges = readRetractions(goMod)
  const isRetracted = (version: string) => isInRange(version, ranges)
  const retracted = ['v1.0.0', 'v1.2.0', 'v1.2.7', 'v1.3.0-rc', 'v1.3.0', 'v1.5.0', 'v1.6.5']
  for (const version of retracted) t.ok(isRetracted(version), version)
  for (const version of ['v1.0.1', 'v1.3.1', 'v1.2.0-rc', 'v1.9.0', 'v9.0.0']) {
    t.notOk(isRetracted(version), version)
  }
  t.notOk(isInRange('v1.0.0', readRetractions('retract v1\n')), 'an incomplete version')
})
