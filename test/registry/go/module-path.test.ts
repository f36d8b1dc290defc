/** Valid and invalid paths of modules and files, as for the go command. */

import t from 'tap'
import {
  filePathError,
  modulePathError,
  splitPathMajor,
  unescapeCapitals,
} from '../../../registry/go/module-path.js'

t.test('a module path is valid on every system and in addresses', async (t) => {
  const taken = [
    'x.y',
    'x.y/z',
    'x..y/z',
    'x.y/Z',
    'x.y/_z',
    'x.y/z._~-',
    'x-y.z',
    '1.2/3',
    'x.y/z09~',
    'x.y/calm1',
    'x.y/com10',
    'x.y/z/v2',
    'x.y/z/v10',
    'x.y/v2',
    'x.y/zv1',
    'x.y/z09~09z',
    'gopkg.in/yaml.v2',
    'gopkg.in/yaml.v0',
    'gopkg.in/u/y.v1',
    'gopkg.in/y.v3-unstable',
    'github.com/Azure/go-autorest/autorest/adal',
    'example.test/Org/Lib',
    'x.y/a~b1',
  ]
  for (const path of taken) t.equal(modulePathError(path), undefined, path)
  const refused = [
    '',
    'x',
    'x/y',
    'hello',
    '/x.y/z',
    'x./z',
    '.x/z',
    '.x.y/z',
    '-x.y/z',
    'X.y/z',
    '_x.y/z',
    'x.y//z',
    'x.y/z/',
    'x.y/../z',
    'x.y/.',
    'x.y/...',
    'x.y/.z',
    'x.y/z.',
    'x.y/!z',
    'x.y/z@v',
    'x.y/a b',
    'x.y/a+b',
    'x.y/a:b',
    'x.y/a\\b',
    'x.y/a\0',
    'x.y/a\n',
    'x.y/é',
    'é.y/z',
    'x.y/aux',
    'x.y/AUX/z',
    'x.y/con.txt',
    'x.y/lpt9',
    'x.y/nul.',
    'x.y/z~1',
    'x.y/z~09.go',
    'x.y/z/v0',
    'x.y/z/v1',
    'x.y/z/v2.0',
    'x.y/z/v01',
    'x.y/z/v1.2',
    'x.y/z/v1/',
    'x.y/a%2f',
    'gopkg.in/yaml',
    'gopkg.in/yaml.v',
    'gopkg.in/yaml.v01',
    'gopkg.in/yaml.v1.2',
    'gopkg.in/yaml/v2',
    'gopkg.in/y.v2-stable',
  ]
  for (const path of refused) t.type(modulePathError(path), 'string', JSON.stringify(path))
})

t.test('a file path is valid on every system', async (t) => {
  const taken = [
    'go.mod',
    'a/b.go',
    '.github/x.yml',
    'a b.txt',
    'é.go',
    '中/文',
    'a+b=c@d!#$%&()',
    'z~1',
    '[x]^_{y}~',
    '-x',
    '..a',
    'LICENSE',
    'internal/aux1/x',
  ]
  for (const path of taken) t.equal(filePathError(path), undefined, path)
  const refused = [
    '',
    '.',
    'a//b',
    'a/..',
    'a.',
    'a./b',
    'aux',
    'a/NUL.txt',
    'com1',
    'a:b',
    'a*b',
    'a?b',
    'a"b',
    "a'b",
    'a<b',
    'a|b',
    'a`b',
    'a;b',
    'a\tb',
    'a\\b',
    'a\0b',
    'a\u00a0b',
    '🙂',
  ]
  for (const path of [...refused, 'a\u0301']) {
    t.type(filePathError(path), 'string', JSON.stringify(path))
  }
})

t.test('the major version of a module path is its suffix', async (t) => {
  const ends: Readonly<Record<string, string | undefined>> = {
    'x.y/z': '',
    'x.y/z/v2': 'v2',
    'x.y/z/v22': 'v22',
    'x.y/z/v1': undefined,
    'x.y/z2': '',
    'gopkg.in/yaml.v2': 'v2',
    'gopkg.in/yaml.v0': 'v0',
    'gopkg.in/yaml.v2-unstable': 'v2',
    'gopkg.in/yaml': undefined,
  }
  for (const [path, major] of Object.entries(ends)) t.equal(splitPathMajor(path), major, path)
})

t.test('an escaped path has an exclamation mark and a small letter for each capital', async (t) => {
  const texts: Readonly<Record<string, string | undefined>> = {
    'example.test/!org/!lib': 'example.test/Org/Lib',
    'v1.0.0-!r!c1': 'v1.0.0-RC1',
    'x.y/z': 'x.y/z',
    '': '',
    '!': undefined,
    'a!': undefined,
    '!!x': undefined,
    '!X': undefined,
    '!1': undefined,
    'x.y/Z': undefined,
    'x.y/é': undefined,
    'x.y/\u212a': undefined,
  }
  for (const [text, plain] of Object.entries(texts)) t.equal(unescapeCapitals(text), plain, text)
})
