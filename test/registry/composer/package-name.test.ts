/** Package names of Composer, checked in bounded time. */

import t from 'tap'
import { isPackageName } from '../../../registry/composer/package-name.js'

t.test('a name is a vendor and a project in lower case', async (t) => {
  const names = ['acme/lib', 'a/b', '0/1', 'a.b_c-d/e--f', 'acme/lib-2.0', `a/${'b'.repeat(253)}`]
  for (const name of names) t.ok(isPackageName(name), name)
})

t.test('every other name is refused', async (t) => {
  const none = [
    '',
    'acme',
    '/',
    'acme/',
    '/lib',
    'acme/lib/x',
    'acme//lib',
    'Acme/lib',
    'acme/Lib',
    'acme/lib\n',
    ' acme/lib',
    'acme/lib\0',
    'acme/..',
    './lib',
    '../lib',
    'acme/.lib',
    'é/b',
    'acme--x/lib',
    'acme/lib---x',
    'acme/lib__x',
    'acme/lib-',
    '-acme/lib',
    'acme/lib~dev',
    'acme\\lib',
    'acme%2Flib',
    '__proto__/x',
    `a/${'b'.repeat(254)}`,
  ]
  for (const name of none) t.notOk(isPackageName(name), JSON.stringify(name))
})

t.test('a crafted name is checked without backtracking', async (t) => {
  // With backtracking, the longest of these would take years.
  for (const piece of ['a', 'a-', 'a--', 'a.', 'a_']) {
    t.notOk(isPackageName(`${piece.repeat(80)}!`))
    t.notOk(isPackageName(`a/${piece.repeat(80)}!`))
  }
})
