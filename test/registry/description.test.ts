/** Descriptions of packages of each format by the metadata that it stores. */

import t from 'tap'
import type { JsonObject, PackageFormat } from '../../conf/package.js'
import { textsOf } from '../../registry/description.js'
import { formatOf } from '../../registry/formats.js'

const describe = (format: PackageFormat, metadata: JsonObject) =>
  formatOf(format).describe(metadata)

t.test('a Composer package is described by its composer.json', async (t) => {
  const fields = {
    description: ' Logs lines ',
    license: ['MIT', 'Apache-2.0'],
    homepage: 'https://acme.example',
    authors: [{ name: 'Ada' }, { email: 'x' }, 7, { name: 'Bob' }],
    require: { php: '>=8.1', 'acme/base': '^2' },
    'require-dev': {},
    suggest: { 'ext-zip': 'faster' },
  }
  t.match(describe('composer', { fields }), {
    summary: 'Logs lines',
    license: 'MIT or Apache-2.0',
    homepage: 'https://acme.example',
    authors: ['Ada', 'Bob'],
    dependencies: [
      { relation: 'require', items: ['php >=8.1', 'acme/base ^2'] },
      { relation: 'suggest', items: ['ext-zip faster'] },
    ],
  })
})

t.test('a Debian package is described by its control file', async (t) => {
  const described = describe('debian', {
    fields: [
      ['Maintainer', 'Ada <ada@example.org>'],
      ['Depends', 'libc6 (>= 2.36), adduser | passwd'],
      ['Homepage', 'https://acme.example'],
      ['Description', 'short line\n A long text\n .\n of two paragraphs.'],
    ],
  })
  t.match(described, {
    summary: 'short line',
    text: 'A long text\n\nof two paragraphs.',
    authors: ['Ada <ada@example.org>'],
    dependencies: [{ relation: 'Depends', items: ['libc6 (>= 2.36)', 'adduser | passwd'] }],
  })
})

t.test('packages of Alpine, R, Go and Swift are described by their metadata', async (t) => {
  t.match(describe('alpine', { T: 'greets', L: 'MIT', U: 'https://x', D: 'so:libc.so  bash>5' }), {
    summary: 'greets',
    license: 'MIT',
    dependencies: [{ relation: 'depends', items: ['so:libc.so', 'bash>5'] }],
  })
  t.match(describe('cran', { License: 'GPL-3', Imports: 'methods, rlang (>= 1.0)' }), {
    license: 'GPL-3',
    dependencies: [{ relation: 'Imports', items: ['methods', 'rlang (>= 1.0)'] }],
  })
  const goMod = [
    'module example.com/m',
    'require example.com/a v1.0.0 // for tests',
    'require (',
    '\texample.com/b v1.2.0',
    '\texample.com/c v0.1.0 // indirect',
    ')',
    'replace example.com/a => ../a',
  ].join('\n')
  t.strictSame(describe('go', { goMod }).dependencies, [
    { relation: 'require', items: ['example.com/a v1.0.0', 'example.com/b v1.2.0'] },
    { relation: 'require (indirect)', items: ['example.com/c v0.1.0'] },
  ])
  const metadata = { description: 'greets', license: 'MIT', author: { name: 'Ada' } }
  t.match(describe('swift', { metadata }), { summary: 'greets', authors: ['Ada'] })
})

t.test('metadata of any shape is described without an error', async (t) => {
  for (const format of [
    'alpine',
    'composer',
    'cran',
    'debian',
    'generic',
    'go',
    'swift',
  ] as const) {
    t.strictSame(describe(format, {}).dependencies, [], format)
  }
  const odd = { fields: { authors: 'x', require: ['y'], description: { a: 1 } } }
  t.match(describe('composer', odd), { authors: [], summary: undefined })
  t.match(describe('debian', { fields: ['x', [], [1, 2]] }), { summary: undefined })
  t.match(describe('swift', { metadata: 'x' }), { summary: undefined })
  t.strictSame(textsOf(['a', null, ' ', 'b']), ['a', 'b'])
})
