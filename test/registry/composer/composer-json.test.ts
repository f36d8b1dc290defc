/** Composer.json is accepted unchanged, or refused where the real Composer would fail. */

import t from 'tap'
import { isFailure } from '../../../conf/failures.js'
import { parseComposerJson } from '../../../registry/composer/composer-json.js'
import { whyNotLoaded } from '../../helpers/real-composer.js'

const parse = (text: string | Buffer) => parseComposerJson(Buffer.from(text))

function refusalOf(text: string | Buffer): string {
  try {
    parse(text)
    return 'taken'
  } catch (error) {
    if (isFailure(error, 'bad_request')) return error.message
    throw error
  }
}

const withField = (field: string, value: unknown) =>
  JSON.stringify({ name: 'acme/lib', [field]: value })

t.test('all fields are kept except those that the registry sets', async (t) => {
  const kept = {
    name: 'acme/lib',
    description: 'x',
    require: { php: '>=8' },
    'require-dev': [],
    replace: { 'a/b': '*' },
    extra: { deep: [1, null, { x: 0.5 }] },
    unknown: [{}],
  }
  const foreign = {
    version: 'v1.0',
    version_normalized: '9',
    dist: {},
    source: {},
    time: 'now',
    uid: 1,
    'transport-options': {},
    'notification-url': 'x',
    'installation-source': 'x',
  }
  t.strictSame(parse(JSON.stringify({ ...kept, ...foreign })), {
    name: 'acme/lib',
    version: 'v1.0',
    type: 'library',
    fields: kept,
  })
  const bare = parse('{"name":"acme/lib","version":null,"type":"Project"}')
  t.match(bare, { version: undefined, type: 'project' })
})

t.test('invalid JSON, other types and a missing name are refused', async (t) => {
  const none = ['', '{', '{"name":"acme/lib"', '\ufeff{"name":"acme/lib"}', "{'name':'acme/lib'}"]
  for (const text of none) t.match(refusalOf(text), /not valid JSON in UTF-8/)
  t.match(refusalOf(Buffer.from('{"name":"acme/l\xedb"}', 'latin1')), /not valid JSON in UTF-8/)
  for (const text of ['[]', 'null', '"acme/lib"', '1']) t.match(refusalOf(text), /an object/)
  for (const text of ['{}', '{"name":null}']) t.match(refusalOf(text), /has no "name"/)
  for (const name of ['Acme/Lib', 'lib', 'acme/lib\\u0000', 'acme/../lib']) {
    t.match(refusalOf(`{"name":"${name}"}`), /vendor\/project|control characters/)
  }
})

const VALUES = [
  true,
  1,
  1.5,
  '',
  'text',
  [],
  ['text'],
  [1],
  [[]],
  [{}],
  [null],
  {},
  { a: 'text' },
  { a: 1 },
  { a: null },
  { a: [] },
  { a: {} },
  { 5: '*' },
  { '-5': 'text' },
  { 'a/b': '*' },
  { 'a/b': '^1.0 || ~2.1' },
  { 'a/b': 'self.version' },
  { 'a/b': '!!' },
  { 'a/b': '^1 |||' },
  { 'branch-alias': 1 },
  { 'branch-alias': { 'dev-main': 1 } },
  { 'branch-alias': [] },
  { 'branch-alias': { 'dev-main': '2.x-dev' } },
  { 'branch-alias': { 3: '2.x-dev' } },
]
const FIELDS = [
  'version',
  'type',
  'description',
  'homepage',
  'readme',
  'time',
  'target-dir',
  'license',
  'minimum-stability',
  'bin',
  '_comment',
  'keywords',
  'include-path',
  'require',
  'support',
  'require-dev',
  'conflict',
  'replace',
  'provide',
  'suggest',
  'autoload',
  'autoload-dev',
  'scripts',
  'archive',
  'config',
  'authors',
  'funding',
  'abandoned',
  'default-branch',
  'extra',
  'repositories',
  'bin-dir',
  'dist',
  'source',
  'transport-options',
  'uid',
  'name',
  'unknown',
]

t.test('the real Composer loads every accepted composer.json', async (t) => {
  const taken: Array<{ readonly what: string; readonly record: unknown }> = []
  let refused = 0
  for (const field of FIELDS) {
    for (const value of VALUES) {
      const text = withField(field, value)
      if (refusalOf(text) !== 'taken') {
        refused += 1
        continue
      }
      const { fields, type } = parse(text)
      const record = { ...fields, type, version: 'dev-main', version_normalized: 'dev-main' }
      taken.push({ what: text, record })
    }
  }
  t.ok(taken.length > 200 && refused > 200, `${taken.length} accepted, ${refused} refused`)
  const reasons = whyNotLoaded(taken.map(({ record }) => record))
  const failed = taken.flatMap(({ what }, at) =>
    reasons[at] === undefined ? [] : [`${what}: ${reasons[at]}`],
  )
  t.strictSame(failed, [])
})

t.test('a field of the wrong type is named', async (t) => {
  t.match(refusalOf(withField('require', 'php')), /"require" must be an object of strings/)
  const odd = '"~> 1.0" for "a/b" in "require" is not a valid version constraint'
  t.match(refusalOf(withField('require', { 'a/b': '~> 1.0' })), odd)
  t.match(refusalOf(withField('version', 1)), /"version" must be a string/)
  t.match(refusalOf(withField('keywords', 'one, two')), /"keywords" must be an array of strings/)
  t.match(refusalOf(withField('bin', [1])), /"bin" must be a string or an array of strings/)
  t.match(refusalOf(withField('authors', ['Ada'])), /"authors" must be an array of objects/)
  t.equal(refusalOf(withField('bin', null)), 'taken', 'null counts as missing')
})

t.test('characters that would break other readers are refused', async (t) => {
  const texts = ['\\ud800', '\\udc00x', '\\u0000', '\\u001b[2J', '\\u0085', '\\u007f']
  for (const text of texts) {
    t.match(refusalOf(`{"name":"a/b","description":"${text}"}`), /control characters/, text)
    t.match(refusalOf(`{"name":"a/b","extra":{"x":[{"${text}":1}]}}`), /control characters/, text)
  }
  t.equal(refusalOf('{"name":"a/b","description":"one\\n\\ttwo\\r\\n😀"}'), 'taken')
  const nested = (levels: number) => `{"name":"a/b","x":${'['.repeat(levels)}${']'.repeat(levels)}}`
  t.equal(refusalOf(nested(99)), 'taken')
  for (const levels of [100, 1_000]) {
    t.match(refusalOf(nested(levels)), /nested deeper than 100 levels/)
  }
  t.match(refusalOf(nested(100_000)), /more than 20000 values/)
  const objects = `{"name":"a/b","x":${'{"x":'.repeat(9_000)}1${'}'.repeat(9_000)}}`
  t.match(refusalOf(objects), /nested/)
})

t.test('property names of JavaScript are ordinary fields', async (t) => {
  const { fields } = parse(
    '{"name":"a/b","__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},' +
      '"extra":{"__proto__":{"polluted":1}}}',
  )
  t.equal(Reflect.get({}, 'polluted'), undefined)
  t.equal(Reflect.get(fields, 'polluted'), undefined)
  t.match(JSON.stringify(fields), /"extra":\{"__proto__":\{"polluted":1\}\}/)
})
