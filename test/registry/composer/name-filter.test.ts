/** Name patterns match as Composer's client means them, in bounded time. */

import t from 'tap'
import { fitsPattern } from '../../../registry/composer/name-filter.js'

t.test('a star matches any text and every other character itself', async (t) => {
  const fitting = [
    ['acme/lib', '*'],
    ['acme/lib', 'acme/lib'],
    ['acme/lib', 'acme/*'],
    ['acme/lib', '*/lib'],
    ['acme/lib', 'a*e/*b'],
    ['acme/lib', '**'],
    ['acme/lib', 'ACME/*'],
    ['a/aba', 'a/*a'],
    ['acme/lib', '*acme/lib*'],
    ['abcbc', 'a*bc'],
  ]
  for (const [name = '', pattern = ''] of fitting) t.ok(fitsPattern(name, pattern), pattern)
  const other = [
    ['acme/lib', ''],
    ['acme/lib', 'acme'],
    ['acme/lib', 'acme/lib2'],
    ['acme/lib', 'lib'],
    ['acme/lib', '.*'],
    ['a/a', 'a/a*a'],
    ['aba', 'ab*ba'],
    ['acme/lib', 'acme*x*lib'],
  ]
  for (const [name = '', pattern = ''] of other) t.notOk(fitsPattern(name, pattern), pattern)
})

t.test('a crafted pattern is matched without backtracking', async (t) => {
  t.notOk(fitsPattern('a'.repeat(255), `${'*a'.repeat(250)}*b`))
})
