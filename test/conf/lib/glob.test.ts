/** Glob patterns match names in bounded time. */

import t from 'tap'
import { parseGlob } from '../../../conf/lib/glob.js'

function fits(pattern: string, name: string): boolean | undefined {
  return parseGlob(pattern)?.(name)
}

t.test('a pattern matches the intended names only', async (t) => {
  const cases: readonly (readonly [string, string, string])[] = [
    ['main', 'main', 'maint'],
    ['*', 'feature/x', 'none'],
    ['release/*', 'release/1/2', 'released'],
    ['{main,release/*}', 'release/1', 'mai'],
    ['{a,b}{c,d}', 'bc', 'ab'],
    ['v?', 'v1', 'v10'],
    ['v[0-9]', 'v7', 'vx'],
    ['v[!0-9]', 'vx', 'v7'],
    ['*-*-x', 'a-b-c-x', 'a-x'],
    ['**/main', 'a/b/main', 'main'],
    ['a.b', 'a.b', 'aXb'],
    ['a\\*', 'a*', 'ab'],
    ['(a|b)+', '(a|b)+', 'a'],
    ['𝒳?', '𝒳𝒴', '𝒳'],
  ]
  for (const [pattern, yes, no] of cases) {
    t.equal(fits(pattern, yes), true, `${pattern} ${yes}`)
    if (pattern !== '*') t.equal(fits(pattern, no), false, `${pattern} ${no}`)
  }
})

t.test('only two stars match a separator', async (t) => {
  const cases: readonly (readonly [string, string, boolean])[] = [
    ['release/*', 'release/1', true],
    ['release/*', 'release/1/2', false],
    ['release/**', 'release/1/2', true],
    ['**', 'a/b', true],
    ['*', 'a/b', false],
    ['a?b', 'a/b', false],
    ['a[/]b', 'a/b', true],
    ['**/*x', 'a/b/cx', true],
    ['**a/*', 'a/b/a/c', true],
    ['**a/*', 'a/b/b/c', false],
    ['{v*,main}', 'v1/x', false],
  ]
  for (const [pattern, name, expected] of cases) {
    t.equal(parseGlob(pattern, '/')?.(name), expected, `${pattern} ${name}`)
  }
  t.equal(parseGlob('*.ts', './')?.('a.b.ts'), false)
})

t.test('a malformed pattern is refused', async (t) => {
  for (const pattern of ['{a', 'a}', '[a', '[]', '{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}']) {
    t.equal(parseGlob(pattern), undefined, pattern)
  }
})

t.test(
  'a pattern that is too long, also after its alternatives are expanded, is refused',
  async (t) => {
    t.equal(fits('a'.repeat(1_000), 'a'.repeat(1_000)), true)
    t.equal(parseGlob('a'.repeat(1_001)), undefined)
    t.equal(
      parseGlob('{a,b}'.repeat(20_000)),
      undefined,
      'refused without recursion for each brace',
    )
    t.type(parseGlob(`{${'b,'.repeat(9)}b}${'a'.repeat(199)}`), 'function')
    t.equal(parseGlob(`{${'b,'.repeat(9)}b}${'a'.repeat(200)}`), undefined, '2,010 tokens')
  },
)

t.test('a pattern with many stars does not take exponential time', async (t) => {
  t.equal(fits(`${'a*'.repeat(120)}b`, 'a'.repeat(250)), false)
  t.equal(fits('*a'.repeat(120), 'a'.repeat(250)), true)
  t.equal(parseGlob(`${'**a*'.repeat(60)}b`, '/')?.('a'.repeat(250)), false)
})
