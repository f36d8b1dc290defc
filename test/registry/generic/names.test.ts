/** Valid names of generic packages, versions and files. */

import t from 'tap'
import { parseFileName, parsePackageName, parseVersion } from '../../../registry/generic/names.js'

t.test('package names consist of letters, digits and four signs', async (t) => {
  for (const name of ['tool', 'T', '7', 'a-', '--', '...', 'C++', 'my_tool.v2', '-a']) {
    t.equal(parsePackageName(name), name)
  }
  for (const name of ['tool.tar.gz', '-', '_', '+', '...', 'a+b_c-d.e']) {
    t.equal(parseFileName(name), name)
  }
})

const WRONG = ['', ' ', 'a b', 'a/b', 'a\\b', 'a:b', 'ä', 'a\0', 'a\n', '~', '@', '%41', '..']

t.test('every other package name is refused', async (t) => {
  for (const name of [...WRONG, '.', '-', '_', '+']) {
    const refusal = { failure: 'bad_request', message: /^invalid package name/ }
    t.throws(() => parsePackageName(name), refusal, JSON.stringify(name))
  }
  for (const name of [...WRONG, '.']) {
    const refusal = { failure: 'bad_request', message: /^invalid filename/ }
    t.throws(() => parseFileName(name), refusal, JSON.stringify(name))
  }
})

t.test('a version is any text without white space around it', async (t) => {
  for (const version of [
    '1',
    '1.0-rc 1',
    'über/2',
    '...',
    '.1',
    '1..2',
    'a/.b',
    '%',
    '%2e1',
    '1'.repeat(300),
  ]) {
    t.equal(parseVersion(version), version)
  }
  for (const version of ['.', '..', '%2e', '.%2E', 'a/../b', '1/.', '..\\1', '%2e%2e/1']) {
    const refusal = { failure: 'bad_request', message: /no segment '\.' or '\.\.'/ }
    t.throws(() => parseVersion(version), refusal as unknown as Error, version)
  }
  for (const version of ['', ' ', ' 1', '1 ', '1\t', '1\n2', '\u00a01', '1\0', '\ud800']) {
    const refusal = { failure: 'bad_request', message: /^invalid package version/ }
    t.throws(() => parseVersion(version), refusal, JSON.stringify(version))
  }
})
