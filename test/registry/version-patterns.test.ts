/** Patterns match whole names without regard to case, in a time that no pattern makes long. */

import t from 'tap'
import { matchPatterns } from '../../registry/version-patterns.js'

t.test('the first pattern that matches a whole text is found', async (t) => {
  const patterns = ['1\\..*', 'v2|v3', 'App/.+-rc\\d']
  const texts = ['1.0', '11.0', 'V3', 'v33', 'app/2.0-rc1', 'app/2.0-rc1\n', '']
  t.strictSame(matchPatterns({ patterns, texts }), [0, -1, 1, -1, 2, -1, -1])
  t.strictSame(matchPatterns({ patterns: [], texts: ['1.0'] }), [-1])
})

t.test('a malformed pattern is refused with its fault', async (t) => {
  for (const pattern of ['(a', '[z-a]', 'a{2,1}', '(?=a)', '\\1', 'a**', ')|(']) {
    const match = () => matchPatterns({ patterns: [pattern], texts: [] })
    t.throws(match, { failure: 'invalid', message: /is not a regular expression: / }, pattern)
  }
})

t.test('patterns that are exponential for backtracking engines are matched', async (t) => {
  const text = `${'a'.repeat(30)}!`
  const patterns = ['(a+)+$', '(a|a)*b', '(.*a){12}b', '^(([a-z])+.)+[A-Z]([a-z])+$']
  t.strictSame(matchPatterns({ patterns, texts: [text, 'b'] }), [-1, 1])
})
