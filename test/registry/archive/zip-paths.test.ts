/** Paths in a zip: each file has one name, and none leads out of the folder. */

import t from 'tap'
import { handMadeZip, zipRefusal } from '../../helpers/zips.js'

t.test('names that lead elsewhere or that readers interpret differently are refused', async (t) => {
  const names = [
    '../a',
    'a/../b',
    '..',
    'a/..',
    '/a',
    '/',
    '',
    'C:a',
    'c:/a',
    '\\\\host\\a',
    'a\\..\\b',
    'a\0b',
    'a\nb',
    'a\x1b[31m',
    'a\x7f',
    'a\u0085',
    'a\u2028b',
    './a',
    'a//b',
    'a/.',
    'a//',
    'a'.repeat(1_025),
    Buffer.from('caf\xe9', 'latin1'),
    Buffer.from([0xed, 0xa0, 0x80]),
  ]
  for (const path of names) {
    t.match(
      await zipRefusal(handMadeZip([{ path, content: 'x' }])),
      /entry|name/,
      encodeURI(`${path}`),
    )
  }
  for (const path of ['...', '..a/b..', 'ab:c', 'é', 'a b', 'a'.repeat(1_024), '__proto__']) {
    t.equal(await zipRefusal(handMadeZip([{ path, content: 'x' }])), 'taken', path)
  }
})

t.test('two entries for one path are refused', async (t) => {
  const zip = (...paths: readonly string[]) => handMadeZip(paths.map((path) => ({ path })))
  for (const paths of [
    ['a', 'a'],
    ['a', 'a/'],
    ['a/b', 'a'],
    ['a', 'a-', 'a/b/c'],
    ['a/', 'a/'],
  ]) {
    t.match(await zipRefusal(zip(...paths)), /two entries|both a file/, paths.join(' '))
  }
  t.equal(await zipRefusal(zip('a/', 'a/b', 'a-', 'a.', 'A', 'ab/', 'ab/c/d')), 'taken')
})
