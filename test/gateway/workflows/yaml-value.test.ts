/** YAML files as values with a place: faults say where, and no file makes the parser slow. */

import t from 'tap'
import { FileFault, parseYaml, type YamlValue } from '../../../gateway/workflows/yaml-value.js'

/** Returns the contents without places. */
function plain({ content }: YamlValue): unknown {
  if (content instanceof Map) return [...content].map(([key, value]) => [key, plain(value)])
  return Array.isArray(content) ? content.map(plain) : content
}

function faultOf(text: string): string {
  try {
    parseYaml(text)
  } catch (error) {
    if (!(error instanceof FileFault)) throw error
    return `${error.position.line}:${error.position.column} ${error.message}`
  }
  return 'no fault'
}

t.test('values are those of YAML 1.2, with the keys in the order of the file', async (t) => {
  const text = 'on: push\n2: no\nb: [1.10, 0o17, "1", ~]\n__proto__: {x: true}\n'
  t.strictSame(plain(parseYaml(text)), [
    ['on', 'push'],
    ['2', 'no'],
    ['b', [1.1, 15, '1', null]],
    ['__proto__', [['x', true]]],
  ])
  t.equal(parseYaml('').content, null)
})

t.test('an alias has the last value with its anchor, and << is an ordinary key', async (t) => {
  t.strictSame(plain(parseYaml('a: &x [1]\nb: *x\nc: &x 2\nd: *x\ne: {<<: *x}')), [
    ['a', [1]],
    ['b', [1]],
    ['c', 2],
    ['d', 2],
    ['e', [['<<', 2]]],
  ])
})

t.test('a value has its name and place', async (t) => {
  const [, value] = parseYaml('jobs:\n  build:\n    needs: [a, b]').map().get('jobs')?.map() ?? []
  t.equal(value, undefined)
  const needs = parseYaml('jobs:\n  build:\n    needs: [a, b]')
    .map()
    .get('jobs')
    ?.map()
    .get('build')
  const second = needs?.map().get('needs')?.list()[1]
  t.match(second, { name: 'jobs.build.needs[1]', position: { line: 3, column: 16 } })
  t.throws(() => second?.map(), { message: 'jobs.build.needs[1] must be a map' })
  t.throws(() => second?.list(), { message: 'jobs.build.needs[1] must be a list' })
  t.throws(() => needs?.text(), { message: 'jobs.build must be a text' })
  t.throws(() => parseYaml('[]').map(), { message: 'the file must be a map' })
})

t.test('a fault has its place', async (t) => {
  const faults: Readonly<Record<string, string>> = {
    'a: 1\na: 2': "2:1 the key 'a' is there twice",
    'a: !shell x': '1:4 Unresolved tag: !shell',
    'a: !!binary aGk=': '1:4 Unresolved tag: tag:yaml.org,2002:binary',
    'a: *x': '1:4 *x has no anchor',
    'a: "x\nb: 1': '2:5 Missing closing "quote',
    '? [a]\n: b': '1:3 a key must be a text',
    'a: b\n---\nc: d': '2:1 the file has more than one document',
  }
  for (const [text, message] of Object.entries(faults)) t.equal(faultOf(text), message, text)
})

t.test('files that would make the parser slow are refused', async (t) => {
  const levels = [...'bcdefghi'].map((name, at) => {
    const repeated = Array.from({ length: 9 }, () => `*${'abcdefghi'[at]}`)
    return `${name}: &${name} [${repeated.join()}]`
  })
  const deep = 'values are nested more than 64 deep'
  const files: Readonly<Record<string, readonly [string, string]>> = {
    'a long file': ['#'.repeat(524_289), 'the file is longer than 524288 bytes'],
    'many words': ['- 1\n'.repeat(10_000), 'the file has more than 20000 words and signs'],
    'many keys': [
      Array.from({ length: 24_000 }, (_, at) => `k${at}: v`).join('\n'),
      'the file has more than 20000 words and signs',
    ],
    'aliases of aliases': [
      `a: &a [1]\n${levels.join('\n')}`,
      'the file has more than 20000 values',
    ],
    'an alias of itself': ['a: &a [*a]', deep],
    'open lists': ['['.repeat(500_000), deep],
    'open maps': ['{a: '.repeat(100_000), deep],
    'nested dashes': ['- '.repeat(250_000), deep],
    'nested questions': ['? '.repeat(250_000), deep],
    'nested lines': [
      Array.from({ length: 900 }, (_, depth) => `${' '.repeat(depth)}a:`).join('\n'),
      deep,
    ],
  }
  for (const [name, [text, message]] of Object.entries(files)) {
    t.match(faultOf(text), message, name)
  }
})
