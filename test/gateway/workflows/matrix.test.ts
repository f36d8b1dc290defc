/** Combinations of matrices: the examples of GitHub's documents, and properties of all matrices. */

import fc from 'fast-check'
import t from 'tap'
import { expandMatrix, MatrixFault } from '../../../gateway/workflows/matrix.js'
import type { PlainValue } from '../../../gateway/workflows/yaml-value.js'

type Values = Readonly<Record<string, PlainValue>>

interface Given {
  readonly lists?: Readonly<Record<string, readonly PlainValue[]>>
  readonly exclude?: readonly Values[]
  readonly include?: readonly Values[]
}

function expand({ lists = {}, exclude = [], include = [] }: Given): readonly Values[] {
  const entries = (list: readonly Values[]) => list.map((entry) => new Map(Object.entries(entry)))
  const matrix = {
    lists: new Map(Object.entries(lists)),
    exclude: entries(exclude),
    include: entries(include),
  }
  return expandMatrix(matrix).map((combination) => Object.fromEntries(combination))
}

function faultOf(given: Given): string {
  try {
    return `no fault, but ${expand(given).length} combinations`
  } catch (error) {
    if (error instanceof MatrixFault) return error.message
    throw error
  }
}

const FRUIT = { fruit: ['apple', 'pear'], animal: ['cat', 'dog'] }

t.test('a matrix is the product of its lists, less exclusions, with inclusions', async (t) => {
  const cases: Readonly<Record<string, readonly [Given, readonly Values[]]>> = {
    'the last key changes first': [
      { lists: { version: [10, 12], os: ['linux', 'windows'] } },
      [
        { version: 10, os: 'linux' },
        { version: 10, os: 'windows' },
        { version: 12, os: 'linux' },
        { version: 12, os: 'windows' },
      ],
    ],
    'the example of inclusions': [
      {
        lists: FRUIT,
        include: [
          { color: 'green' },
          { color: 'pink', animal: 'cat' },
          { fruit: 'apple', shape: 'circle' },
          { fruit: 'banana' },
          { fruit: 'banana', animal: 'cat' },
        ],
      },
      [
        { fruit: 'apple', animal: 'cat', color: 'pink', shape: 'circle' },
        { fruit: 'apple', animal: 'dog', color: 'green', shape: 'circle' },
        { fruit: 'pear', animal: 'cat', color: 'pink' },
        { fruit: 'pear', animal: 'dog', color: 'green' },
        { fruit: 'banana' },
        { fruit: 'banana', animal: 'cat' },
      ],
    ],
    'an inclusion that extends one combination': [
      {
        lists: { os: ['windows', 'linux'], node: [14, 16] },
        include: [{ os: 'windows', node: 16, npm: 6 }],
      },
      [
        { os: 'windows', node: 14 },
        { os: 'windows', node: 16, npm: 6 },
        { os: 'linux', node: 14 },
        { os: 'linux', node: 16 },
      ],
    ],
    'inclusions without lists': [
      { include: [{ site: 'production' }, { site: 'staging' }] },
      [{ site: 'production' }, { site: 'staging' }],
    ],
    'the example of exclusions': [
      {
        lists: { os: ['macos', 'windows'], version: [12, 14], environment: ['staging', 'prod'] },
        exclude: [
          { os: 'macos', version: 12, environment: 'prod' },
          { os: 'windows', version: 14 },
        ],
      },
      [
        { os: 'macos', version: 12, environment: 'staging' },
        { os: 'macos', version: 14, environment: 'staging' },
        { os: 'macos', version: 14, environment: 'prod' },
        { os: 'windows', version: 12, environment: 'staging' },
        { os: 'windows', version: 12, environment: 'prod' },
      ],
    ],
    'an inclusion restores an excluded combination': [
      { lists: { a: [1, 2] }, exclude: [{ a: 1 }], include: [{ a: 1 }] },
      [{ a: 2 }, { a: 1 }],
    ],
    'maps are compared by their contents': [
      {
        lists: { node: [{ version: 1, env: 'a' }, { version: 2 }] },
        exclude: [{ node: { env: 'a', version: 1 } }],
      },
      [{ node: { version: 2 } }],
    ],
    'a number is not the text of its digits': [
      { lists: { version: [1, '1'] }, exclude: [{ version: '1' }] },
      [{ version: 1 }],
    ],
  }
  for (const [name, [given, expected]] of Object.entries(cases)) {
    t.strictSame(expand(given), expected, name)
  }
})

const numbers = (count: number) => Array.from({ length: count }, (_, at) => at)

t.test('a matrix that is empty or too large is refused before it is expanded', async (t) => {
  const huge = Object.fromEntries(numbers(200).map((key) => [`k${key}`, numbers(50)]))
  const cases: Readonly<Record<string, readonly [Given, RegExp | string]>> = {
    'no lists': [{}, 'has no combination'],
    'all excluded': [{ lists: { a: [1] }, exclude: [{ a: 1 }] }, 'has no combination'],
    'an exclusion by another key': [
      { lists: { a: [1] }, exclude: [{ b: 1 }] },
      "excludes by the key 'b', which has no list",
    ],
    'a list of ten thousand': [
      { lists: { a: numbers(10_000) } },
      'has 10000 combinations; at most 256 are allowed',
    ],
    'many long lists': [{ lists: huge }, /^has (Infinity|\d.*) combinations; at most 256/],
    'many long lists, with an exclusion': [
      { lists: huge, exclude: [{ k0: 1 }] },
      'takes more than 50000 comparisons',
    ],
    'thousands of inclusions': [
      { include: numbers(5_000).map((a) => ({ a })) },
      'has 5000 combinations; at most 256 are allowed',
    ],
    'thousands of inclusions for all combinations': [
      { lists: { a: numbers(256) }, include: numbers(2_000).map((b) => ({ b })) },
      'takes more than 50000 comparisons',
    ],
    'few combinations after many exclusions': [
      { lists: { a: numbers(300) }, exclude: numbers(80).map((a) => ({ a })) },
      'no fault, but 220 combinations',
    ],
  }
  for (const [name, [given, expected]] of Object.entries(cases)) {
    t.match(faultOf(given), expected, name)
  }
})

const value = fc.oneof(fc.nat(2), fc.constantFrom('a', 'b', ''), fc.constant(null))
const entry = fc.dictionary(fc.constantFrom('x', 'y', 'z', 'w'), value, { maxKeys: 3 })
const given = fc.record({
  lists: fc.dictionary(
    fc.constantFrom('x', 'y', 'z'),
    fc.uniqueArray(value, { minLength: 1, maxLength: 3 }),
    { minKeys: 1, maxKeys: 3 },
  ),
  include: fc.array(entry, { maxLength: 5 }),
})

t.test('inclusions change no value of the lists, and each is in a combination', async () => {
  fc.assert(
    fc.property(given, ({ lists, include }) => {
      const plain = expand({ lists })
      const all = expand({ lists, include })
      const keeps = plain.every((combination, at) =>
        Object.entries(combination).every(([key, one]) => all[at]?.[key] === one),
      )
      const keysOf = (combination: Values) => Object.keys(combination)
      const isThere = include.every((one) =>
        all.some((combination) => keysOf(one).every((key) => keysOf(combination).includes(key))),
      )
      return keeps && isThere && all.length <= plain.length + include.length
    }),
  )
})

t.test('excluding a combination removes it alone', async () => {
  fc.assert(
    fc.property(given, fc.nat(), ({ lists }, seed) => {
      const plain = expand({ lists })
      const excluded = plain[seed % plain.length]
      if (excluded === undefined || plain.length === 1) return true
      const left = expand({ lists, exclude: [excluded] })
      return left.length === plain.length - 1 && !left.some((one) => sameAs(one, excluded))
    }),
  )
})

function sameAs(one: Values, other: Values): boolean {
  return Object.entries(one).every(([key, value]) => other[key] === value)
}
