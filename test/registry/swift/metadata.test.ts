/** Metadata that the client can read is kept, and other metadata is refused. */

import t from 'tap'
import type { Json } from '../../../conf/package.js'
import { parseMetadata, repositoriesIn } from '../../../registry/swift/metadata.js'

const parse = (value: Json) => parseMetadata(JSON.stringify(value), 'binary')

const WHOLE = {
  author: {
    name: 'Mona Lisa Octocat',
    email: 'mona@example.test',
    description: 'A cat.',
    organization: { name: 'GitHub', email: 'a@b.test', description: 'x', url: 'https://b.test' },
    url: 'https://mona.test',
  },
  description: 'One thing links to another.',
  licenseURL: 'https://www.apache.org/licenses/LICENSE-2.0',
  originalPublicationTime: '2023-02-16T04:00:00Z',
  readmeURL: 'https://example.test/README',
  repositoryURLs: ['https://github.com/mona/LinkedList', 'git@github.com:mona/LinkedList.git'],
} as const

t.test(
  'all fields of the schema are kept, and those of schema.org that registries accept',
  async (t) => {
    const more = { codeRepository: 'https://a.test', keywords: ['a'], license: 'MIT' }
    t.strictSame(parse({ ...WHOLE, ...more }), { ...WHOLE, ...more })
  },
)

t.test('nothing is required, and unknown fields are dropped', async (t) => {
  for (const text of ['', ' \n', '{}']) t.strictSame(parseMetadata(text, 'binary'), {})
  t.strictSame(parse({ '@context': ['x'], version: 1, description: null, deep: { a: 1 } }), {})
  t.strictSame(parseMetadata('{"__proto__":{"description":"x"},"constructor":1}', 'binary'), {})
  t.strictSame(parseMetadata('{"author":{"__proto__":{"name":"x"}}}', 'binary'), {})
})

t.test("metadata that violates the schema is refused with the field's name", async (t) => {
  const deep = '['.repeat(100_000)
  for (const text of ['{', 'null', '[]', '"a"', '1', deep, `{"author":${deep}`, '\0']) {
    const what = { failure: 'invalid', message: /^invalid JSON provided for release metadata/ }
    t.throws(() => parseMetadata(text, 'binary'), what, text.slice(0, 20))
  }
  const refused: Readonly<Record<string, Json>> = {
    author: 'Mona',
    description: 1,
    keywords: 'a',
    license: {},
    licenseURL: ['x'],
    originalPublicationTime: 'yesterday',
    readmeURL: true,
    repositoryURLs: [1],
  }
  for (const [field, value] of Object.entries(refused)) {
    const message = new RegExp(`${field} is not`)
    t.throws(() => parse({ [field]: value }), { failure: 'invalid', message })
  }
  for (const field of ['name', 'email', 'description', 'url', 'organization', 'givenName']) {
    const message = new RegExp(`${field} is not`)
    t.throws(() => parse({ author: { name: 'a', [field]: 1 } }), { failure: 'invalid', message })
  }
  const many = Array.from({ length: 33 }, (_, at) => `https://a.test/${at}`)
  t.throws(() => parse({ repositoryURLs: many }), { failure: 'invalid', message: /more than 32/ })
  const long = [`https://a.test/${'x'.repeat(500)}`]
  t.throws(() => parse({ repositoryURLs: long }), { failure: 'invalid', message: /more than 500/ })
})

t.test('an author without a name is left out', async (t) => {
  t.strictSame(parse({ author: { givenName: 'Ada', middleName: 'B', familyName: 'L' } }), {
    author: { name: 'Ada B L', givenName: 'Ada', middleName: 'B', familyName: 'L' },
  })
  for (const author of [{}, { email: 'a@b.test' }, { name: '' }, { givenName: '' }]) {
    t.strictSame(parse({ author }), {}, JSON.stringify(author))
  }
  t.strictSame(parse({ author: { name: 'Ada', organization: { email: 'a@b.test' } } }), {
    author: { name: 'Ada' },
  })
})

t.test('a time is converted to the form that the client reads', async (t) => {
  const times = {
    '2023-02-16T04:00:00.123456789Z': '2023-02-16T04:00:00Z',
    '2023-02-16T06:00:00.5+02:00': '2023-02-16T04:00:00Z',
  }
  for (const [given, told] of Object.entries(times)) {
    t.strictSame(parse({ originalPublicationTime: given }), { originalPublicationTime: told })
  }
  for (const time of ['2023-02-16', '2023-02-30T25:00:00Z', '16 Feb 2023', '2023-02-16T04:00:00']) {
    const what = { failure: 'invalid', message: /not an ISO 8601 time/ }
    t.throws(() => parse({ originalPublicationTime: time }), what, time)
  }
})

t.test('quoted-printable is decoded only if the metadata is encoded', async (t) => {
  const url = 'https://a.test/?a=3D&b=C3=A9'
  const plain = JSON.stringify({ readmeURL: url })
  t.strictSame(parseMetadata(plain, 'quoted-printable'), { readmeURL: url }, 'as Swift sends it')
  const encoded = '{=22description=22: "na=C3=AFve and=\r\n long"}'
  t.strictSame(parseMetadata(encoded, 'quoted-printable'), { description: 'naïve and long' })
  const what = { failure: 'invalid', message: /it does not parse/ }
  t.throws(() => parseMetadata(encoded, 'binary'), what)
  t.throws(() => parseMetadata('=', 'quoted-printable'), what)
  const many = `[${'1,'.repeat(20_000)}1]`
  t.throws(() => parseMetadata(`{"a":${many}}`, 'binary'), what, 'more values than the limit')
  const hidden = `{"a":${many.replaceAll(',', '=2C')}}`
  t.throws(() => parseMetadata(hidden, 'quoted-printable'), what, 'also if they are encoded')
})

t.test('repository addresses are normalized and listed once', async (t) => {
  t.strictSame(repositoriesIn(WHOLE), ['github.com/mona/LinkedList'])
  t.strictSame(repositoriesIn({}), [])
})
