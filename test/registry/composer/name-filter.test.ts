/** Patterns of names are what Composer's client means by them, and are read at once. */

import t from 'tap'
import { fitsPattern } from '../../../registry/composer/name-filter.js'

t.test('a star is any text, and all else is itself', async (t) => {
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

t.test('patterns made to take long are read at once', async (t) => {
  t.notOk(fitsPattern('a'.repeat(255), `${'*a'.repeat(250)}*b`))
})
