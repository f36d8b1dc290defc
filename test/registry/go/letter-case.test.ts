/** Paths that differ only in case are one file on some systems. */

import t from 'tap'
import { isFailure } from '../../../conf/failures.js'
import { checkFolding } from '../../../registry/go/letter-case.js'

function isTaken(paths: readonly string[]): boolean {
  try {
    checkFolding(paths)
    return true
  } catch (error) {
    if (isFailure(error, 'bad_request')) return false
    throw error
  }
}

t.test('files and folders that differ only in case are refused', async (t) => {
  const refused = [
    ['a.go', 'A.go'],
    ['x/a', 'X/b'],
    ['x/y/a', 'x/z', 'x/Y/b'],
    ['x/a/', 'X/a/'],
    ['foo', 'b', 'foo-', 'Foo/x'],
    ['é', 'É'],
    ['k', '\u212a'],
    ['s', '\u017f'],
    ['ß', 'ẞ'],
    ['σ', 'ς'],
    ['𐐀', '𐐨'],
    ['a/LICENSE', 'z', 'a/License'],
  ]
  for (const paths of refused) {
    t.notOk(isTaken(paths), paths.join(' '))
    t.notOk(isTaken(paths.toReversed()), paths.join(' '))
  }
})

t.test('paths that differ in more than case are accepted', async (t) => {
  const taken = [
    ['a.go', 'b.go', 'a-b', 'x/a', 'x/b', 'x/', 'x/c/d'],
    ['x/A', 'y/a', 'xA/a', 'xB/a'],
    ['x/Abc', 'x/abd', 'X-/a'],
    ['ss', 'ß'],
    ['İ', 'i'],
    ['e\u0301', 'é'],
  ]
  for (const paths of taken) t.ok(isTaken(paths), paths.join(' '))
  t.ok(isTaken([]))
})

t.test('many long paths are compared in linear time', async (t) => {
  const paths = Array.from({ length: 16_000 }, (_, at) => `${at}${'/a'.repeat(500)}`)
  t.ok(isTaken(paths))
  t.notOk(isTaken([...paths, `7${'/a'.repeat(400)}/A`]))
})
