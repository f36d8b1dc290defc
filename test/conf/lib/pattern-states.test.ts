/** Matching of states: what a matcher remembers changes no answer, and its work is counted. */

import fc from 'fast-check'
import t from 'tap'
import { any, matcherOf, once, type State } from '../../../conf/lib/pattern-states.js'

const letter = (expected: string) => once((character) => character === expected)
const anything = any(() => true)

/** Returns the states of a pattern in which `*` matches all texts. */
const statesOf = (pattern: string): readonly State[] =>
  [...pattern].map((character) => (character === '*' ? anything : letter(character)))

/** Returns true if the pattern matches; tries all ways one after the other. */
function matchesSlowly(pattern: string, text: string): boolean {
  const [first, ...rest] = pattern
  if (first === undefined) return text === ''
  if (first !== '*') {
    return text.startsWith(first) && matchesSlowly(rest.join(''), text.slice(1))
  }
  return (
    matchesSlowly(rest.join(''), text) || (text !== '' && matchesSlowly(pattern, text.slice(1)))
  )
}

const patterns = fc.string({ unit: fc.constantFrom('a', 'b', '*'), maxLength: 8 })
const texts = fc.array(fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 8 }))

t.test('a matcher answers each of many texts as if it were the first', async (t) => {
  const answers = fc.property(patterns, texts, (pattern, texts) => {
    const matches = matcherOf(statesOf(pattern))
    return texts.every((text) => matches(text) === matchesSlowly(pattern, text))
  })
  fc.assert(answers, { numRuns: 500 })
  t.pass('no difference')
})

t.test('a matcher that has forgotten what it remembered gives the same answers', async (t) => {
  const matches = matcherOf(statesOf('a**b'))
  // Each character is new, so the memory is full several times.
  const many = Array.from({ length: 50_000 }, (_, at) => String.fromCodePoint(0x4e00 + at)).join('')
  for (let round = 0; round < 2; round += 1) {
    t.equal(matches(`a${many}b`), true)
    t.equal(matches(`a${many}`), false)
    t.equal(matches('ab'), true)
    t.equal(matches('b'), false)
  }
})

t.test('a character costs the number of states at first, and then one', async (t) => {
  const states = statesOf('a*b')
  const matches = matcherOf(states)
  const work = { left: 100 }
  t.equal(matches('aab', work), true)
  t.equal(100 - work.left, 3 * states.length)
  t.equal(matches('aab', work), true)
  t.equal(100 - work.left, 3 * states.length + 3)
})

t.test('a text for which the work does not suffice does not match', async (t) => {
  const matches = matcherOf(statesOf('*'))
  const work = { left: 5 }
  t.equal(matches('abcdef', work), false)
  t.ok(work.left < 0)
  t.equal(matches('abcdef'), true, 'without a limit it matches')
})
