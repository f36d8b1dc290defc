/** Constraints are accepted and refused as by the real Composer, and in bounded time. */

import { array, assert, constantFrom, property } from 'fast-check'
import t from 'tap'
import { isConstraint } from '../../../registry/composer/constraint.js'
import { isConstraintToComposer } from '../../helpers/real-composer.js'

const VERSIONS = [
  '1',
  '1.0',
  '1.2.3',
  '1.2.3.4',
  '1.2.3.4.5',
  '100000',
  'v1.2',
  '1.x',
  '1.2.*',
  'x',
  '*',
  'v*',
  '1.0-beta1',
  '1.0-dev',
  '1.x-dev',
  '1.2.x-dev',
  'dev-main',
  'main-dev',
  'main',
  '2024-01-31',
  '1.0@dev',
  '@dev',
  'dev-main#abc',
  '1.x-dev#abc',
  '1.0#abc',
  '1.0+meta',
  '1.0 as 2.0',
  '',
  'as',
  'dev-main as 1.0',
  '1.0-gamma',
  'feature/x-dev',
  'é-dev',
  '*.*',
  '1.*.*',
  '1.*.2',
  '-1',
  '1-',
]
const OPERATORS = ['', '~', '^', '~>', '>', '>=', '<', '<=', '=', '==', '!=', '<>', '=>', '!', '> ']
const JOINTS = [' ', ',', ', ', ' , ', ' || ', '|', '||', '|||', ' - ', '-', ' -', '- ', '  ', ',,']

function corpus(): readonly string[] {
  const constraints = new Set([
    '',
    ' ',
    '|',
    ',',
    'self.version',
    '1.0 |',
    '>= 1.0,<2',
    '>=1.0 <2.0',
  ])
  for (const version of VERSIONS) {
    for (const operator of OPERATORS) constraints.add(`${operator}${version}`)
    for (const joint of JOINTS) {
      for (const other of ['2.0', '^2.0', '<3', 'x', 'dev-x', 'none', 'as 2.0']) {
        constraints.add(`${version}${joint}${other}`)
        constraints.add(`${other}${joint}${version}`)
      }
    }
  }
  return [...constraints]
}

t.test('exactly the constraints that Composer parses are accepted', async (t) => {
  const constraints = corpus()
  const expected = isConstraintToComposer(constraints)
  t.ok(expected.filter(Boolean).length > 1_000 && expected.filter((is) => !is).length > 1_000)
  const different = constraints.filter(
    (constraint, at) => isConstraint(constraint) !== expected[at],
  )
  t.strictSame(different, [])
})

t.test('random combinations of parts are accepted as by Composer', async (t) => {
  const part = constantFrom(
    '1',
    '2.0',
    '.x',
    '*',
    '^',
    '~',
    '>',
    '<',
    '=',
    '!',
    '|',
    '||',
    ',',
    ' ',
    '-',
    ' - ',
    'as',
    ' as ',
    '@dev',
    '#a',
    'dev-',
    '-dev',
    'dev',
    'beta',
    'rc',
    'v',
    '+b',
    'main',
    '\t',
    '.',
  )
  const lists = array(array(part, { maxLength: 8 }), { minLength: 500, maxLength: 500 })
  await assert(
    property(lists, (list) => {
      const constraints = list.map((parts) => parts.join(''))
      const ours = constraints.filter(isConstraint)
      const expected = isConstraintToComposer(constraints)
      t.strictSame(
        ours,
        constraints.filter((_, at) => expected[at]),
      )
    }),
    { numRuns: 6 },
  )
})

t.test('crafted constraints are parsed without backtracking', async (t) => {
  const pieces = [
    ' ',
    '1',
    '.1',
    '1.',
    ' -',
    ' - 1',
    '|',
    ',',
    'as',
    ' as ',
    '-dev',
    '.x',
    '@',
    '#',
    '*.',
  ]
  for (const head of ['', '1', '^1.0-a', '~1', '1 - 1', '>', 'dev-a', 'x']) {
    for (const piece of pieces) {
      isConstraint(`${head}${piece.repeat(1_000 / piece.length - head.length)}!`)
    }
  }
  t.notOk(isConstraint(`1${' '.repeat(100_000)}`), 'one that is too long')
  for (const blank of ['\n', '\u00a0'])
    t.notOk(isConstraint(`1.0${blank}|| 2.0`), 'an unusual space character')
})
