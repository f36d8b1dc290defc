/** Names that Debian allows; none is a path that leads elsewhere. */

import { execFileSync } from 'node:child_process'
import t, { type Test } from 'tap'
import {
  parseArchitecture,
  parsePackageName,
  parsePlace,
  parseVersion,
  poolFileName,
  readPoolFileName,
} from '../../../registry/debian/names.js'

interface Names {
  readonly good: readonly string[]
  readonly bad: readonly string[]
}

function tryAll(t: Test, parse: (text: string) => string, { good, bad }: Names): void {
  for (const text of good) t.equal(parse(text), text)
  for (const text of bad) {
    const refused = { failure: 'bad_request', message: /is invalid: / }
    t.throws(() => parse(text), refused, JSON.stringify(text.slice(0, 60)))
  }
}

t.test('package names follow Debian policy 5.6.7', async (t) => {
  const good = ['ab', 'libc6', 'g++', '0ad', 'a.b', 'x-y', 'a+']
  const bad = ['', 'a', 'Ab', 'aB', '-ab', '+ab', '.a', '..', 'a_b', 'a,b', 'a b', 'a/b', 'ä1']
  tryAll(t, parsePackageName, { good, bad: [...bad, 'ab\n', 'a\nb', 'ab\0'] })
})

t.test('versions are those that dpkg accepts, with or without an epoch', async (t) => {
  const good = [
    '1',
    '1.0',
    '1.0-1',
    '0:1',
    '1:2.0~rc1+dfsg-3.1',
    '2147483647:1',
    '1-2-3',
    '1.0~',
    'a1',
  ]
  const bad = ['', ':1', '1:', '01:2', '-1:2', '2147483648:1', '99999999999:1', '1-', '-1', '~1']
  const worse = ['.1', '1_2', '1/2', '1:2:3', '1 2', '1.0\n', 'x:1', '1,2', '1\\2', '../1', '1é']
  tryAll(t, parseVersion, { good, bad: [...bad, ...worse] })
  for (const version of good.slice(0, -1)) {
    t.doesNotThrow(() => execFileSync('dpkg', ['--validate-version', version]), version)
  }
})

t.test('an architecture is a single one and not a wildcard', async (t) => {
  const good = ['amd64', 'all', 'arm64', 'kfreebsd-amd64', 'musl-linux-arm64', 'x32']
  const bad = ['', 'any', 'linux-any', 'any-amd64', 'source', 'AMD64', 'x86_64', 'amd64 arm64']
  const worse = ['-amd64', 'amd64-', 'a--b', '../x', 'a/b', 'amd64\n', 'a'.repeat(51)]
  tryAll(t, parseArchitecture, { good, bad: [...bad, ...worse] })
})

t.test('distributions and components are one path segment', async (t) => {
  const good = ['bookworm', 'main', 'bookworm-updates', '12.5', 'My_Dist', 'a~b+c', 'a'.repeat(100)]
  const bad = ['', '.', '..', '.a', '-a', '~', 'a/b', 'noble/../x', 'a b', 'a\nb', 'a|b', 'by-hash']
  tryAll(t, parsePlace, { good, bad: [...bad, 'a\0', 'ä', 'a%2Fb', 'a'.repeat(101)] })
})

t.test(
  'a file name is derived from and parsed into package, version and architecture',
  async (t) => {
    const file = { packageName: 'g++', version: '1:2.0~rc1-3', architecture: 'amd64' }
    t.equal(poolFileName(file), 'g++_1:2.0~rc1-3_amd64.deb')
    t.strictSame(readPoolFileName(poolFileName(file)), file)
    for (const name of [
      '',
      'a.deb',
      'a_1.deb',
      'a_1_all',
      'a_1_all.deb.asc',
      'a_1_all_x.deb',
      '__.deb',
    ]) {
      t.equal(readPoolFileName(name), undefined, name)
    }
  },
)
