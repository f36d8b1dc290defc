/** Versions are normalized as by the real Composer, in bounded time. */

import { array, assert, constantFrom, property } from 'fast-check'
import t from 'tap'
import { isFailure } from '../../../conf/failures.js'
import { normalizeVersion, parseVersion } from '../../../registry/composer/version.js'
import { normalizeWithComposer } from '../../helpers/real-composer.js'

const NUMBERS = [
  '1',
  '1.2',
  '1.2.3',
  '1.2.3.4',
  '1.2.3.4.5',
  '0',
  '0.0',
  '01.002',
  '00001',
  '99999',
  '100000',
  '1.9999999',
  '20240131',
  '2024-01-31',
  '2024.01.31',
  '2024.1.31',
  '2024-01',
  '202401',
  '2024.01.31.12',
  '20240131-1200',
  '20240131-120000',
  '2024-01-31-0',
  '2024:01:31:12:00:59',
  '1.',
  '.1',
  '1..2',
  '1.x',
  '1.*',
  '1.2.x',
  '1.2.X',
  '1.x.3',
  '1.2.3.x',
  '1.2.3.4.x',
  'x',
  '*',
  'v',
  'vv1',
  'V1.2',
  'v1.2.3',
  'v20240131',
  'v1.x',
  '1-2',
  '1_2',
  '1,2',
  '1.2a.3',
  '1e5',
]
const STABILITIES = [
  '',
  'a',
  'b',
  'p',
  'pl',
  'rc',
  'RC',
  'alpha',
  'ALPHA',
  'beta',
  'patch',
  'stable',
  'STABLE',
  'Stable',
  'dev',
  'gamma',
  'c',
  'pre',
]
const SEPARATORS = ['', '-', '.', '_', '--', '.-']
const ENDS = ['', '1', '.1', '-1', '1.2', '-dev', 'dev', '.dev', '2-dev', '+build.1', '@dev', '@x']
const NAMES = [
  'dev-main',
  'dev-1.0',
  'DEV-Main',
  'dev-feature/a#1',
  'dev-',
  'dev',
  '-dev',
  '.dev',
  'devel',
  'main',
  'master',
  'trunk',
  'default',
  'Master',
  'main-dev',
  'dev-1.x-dev',
  'dev-ünïcode',
  'ſ1',
  '1.0#abc',
  '1.0+a+b',
  '1.0+',
  '+1',
  '1.0+a,b',
  '1,0+a',
  'dev-main+b',
  '1.0@DEV',
  '@dev',
  '@',
  '1.0@dev@dev',
  '1.0-stable-dev',
  '1.0-beta-stable',
  '1.0-ſtable',
  '1.0-rc.-1',
  '1.0-rc..1',
  'latest',
  '~1.0',
  '^1.0',
  '>=1',
  '1.0 - 2.0',
  '',
  '0.0.0.0',
  '-1.0',
  '１.0',
  '1.0-b1.2.3-dev',
]

function corpus(): readonly string[] {
  const versions = new Set(NAMES)
  for (const numbers of NUMBERS) {
    for (const end of ENDS) versions.add(`${numbers}${end}`)
    for (const stability of STABILITIES) {
      for (const separator of SEPARATORS) versions.add(`${numbers}${separator}${stability}`)
    }
  }
  for (const stability of STABILITIES) {
    for (const end of ENDS) versions.add(`1.0-${stability}${end}`)
  }
  return [...versions].filter((version) => !/\s/.test(version))
}

t.test('a version is normalized as by Composer', async (t) => {
  const versions = corpus()
  t.ok(versions.length > 3_000, `${versions.length} versions`)
  const expected = normalizeWithComposer(versions)
  t.ok(expected.filter((normalized) => normalized !== undefined).length > 1_000)
  const different = versions.flatMap((version, at) => {
    const ours = normalizeVersion(version)
    return ours === expected[at] ? [] : [{ version, ours, composers: expected[at] }]
  })
  t.strictSame(different, [])
})

t.test('random combinations of parts are normalized as by Composer', async (t) => {
  const part = constantFrom(
    '0',
    '1',
    '23',
    '2024',
    '.',
    '-',
    '_',
    ':',
    'v',
    'x',
    '*',
    'dev',
    'beta',
    'rc',
    'p',
    'a',
    'stable',
    '+',
    '@',
    '@dev',
    'dev-',
    'b',
    '/',
    '#',
    ',',
  )
  const lists = array(array(part, { maxLength: 9 }), { minLength: 500, maxLength: 500 })
  await assert(
    property(lists, (list) => {
      const versions = list.map((parts) => parts.join(''))
      t.strictSame(versions.map(normalizeVersion), normalizeWithComposer(versions))
    }),
    { numRuns: 4 },
  )
})

t.test('versions that are equal to Composer have one key, and others do not', async (t) => {
  const keys = [
    ['1.0', '1.0.0'],
    ['1.0.0.0', '1.0.0'],
    ['v1.0', '1.0.0'],
    ['1.0.0+build.7', '1.0.0'],
    ['1.2.3.4', '1.2.3.4'],
    ['1.0-RC1', '1.0.0-RC1'],
    ['1.0.0rc.1', '1.0.0-RC1'],
    ['1.x-dev', '1.x-dev'],
    ['1.x.x.x-dev', '1.x-dev'],
    ['2.1.x-dev', '2.1.x-dev'],
    ['1.x.3-dev', '1.9999999.3.x-dev'],
    ['dev-main', 'dev-main'],
    ['1.0-dev', '1.0.0-dev'],
    ['2024-01-31', '2024.01.31'],
    ['20240131', '20240131'],
    ['master', 'dev-master'],
  ]
  for (const [pretty = '', key] of keys) t.equal(parseVersion(pretty).key, key, pretty)

  const normalizedOf = new Map<string, string>()
  for (const version of corpus()) {
    const normalized = normalizeVersion(version)
    // Composer distinguishes a date with hyphens from one with dots.
    if (normalized === undefined || normalized === 'dev-' || DAY.test(normalized)) continue
    const { key } = parseVersion(version)
    const before = normalizedOf.get(key) ?? normalized
    if (before !== normalized) t.fail(`${before} and ${normalized} both have the key ${key}`)
    normalizedOf.set(key, normalized)
  }
  t.ok(normalizedOf.size > 200, `${normalizedOf.size} keys`)
})

const DAY = /^\d+\.\d+\.\d+(?:-|$)/

t.test('development versions are distinguished from releases', async (t) => {
  for (const dev of ['dev-main', '1.x-dev', '1.0-dev', '1.0-beta2-dev', 'master']) {
    t.equal(parseVersion(dev).isDev, true, dev)
  }
  for (const release of ['1.0', '1.0-beta2', '2024.01.31', '1.0-stable-dev']) {
    t.equal(parseVersion(release).isDev, false, release)
  }
})

t.test('an invalid version is refused with a message', async (t) => {
  const none = ['', 'latest', '1.x', 'main', 'dev-', '^1.0', '1.0.0.0.0', '1.0-gamma']
  for (const version of none) t.throws(() => parseVersion(version), /is not one that Composer/)
  const blanks = [
    ' 1.0',
    '1.0\n',
    '1.0 as 2.0',
    '1.0\0',
    'dev-\u001b[2J',
    'dev-\u202e',
    'dev-\ud800',
  ]
  for (const version of blanks) t.throws(() => parseVersion(version), /white space or control/)
  t.throws(() => parseVersion(`dev-${'x'.repeat(252)}`), /longer than 255 characters/)
  t.equal(parseVersion(`dev-${'x'.repeat(251)}`).isDev, true)
  try {
    parseVersion('latest')
  } catch (error) {
    t.ok(isFailure(error, 'bad_request'))
  }
})

t.test('a crafted version is parsed without backtracking', async (t) => {
  const pieces = ['1', '.1', '1.', '-', '-1', '.', 'dev', '1.x', '-a1', '2024-01', '12', 'beta.1']
  const heads = ['', '1', '1.0-a', 'v1.2.3-beta', '2024', '20240131-']
  for (const head of heads) {
    // A backtracking expression would not return.
    for (const piece of pieces) normalizeVersion(`${head}${piece.repeat(20_000)}!`)
  }
  t.pass()
})
