/** Valid and invalid names of packages, versions, architectures and repositories. */

import fc from 'fast-check'
import t from 'tap'
import {
  fileNameOf,
  parseArchitecture,
  parsePackageName,
  parseRepository,
  parseVersion,
  readFileName,
} from '../../../registry/alpine/names.js'
import { pmbValidVersions } from '../../helpers/pmbootstrap.js'

const refused = (what: string) => ({
  failure: 'bad_request',
  message: new RegExp(`^${what} is invalid: `),
})
const ODD = ['', ' ', 'a b', 'a/b', 'a\\b', 'a\0', 'a\n', 'a\r', 'ä', 'a|b', 'a%2f', 'a@b']

t.test('valid package names are accepted and invalid ones refused', async (t) => {
  for (const name of ['hello', 'C', '7zip', 'gtk+3.0', 'py3-foo_bar', '_x', 'so.libc']) {
    t.equal(parsePackageName(name), name)
  }
  for (const name of [...ODD, '.', '..', '-a', '.a', '+a', 'a=1', 'a~', 'so:libc']) {
    t.throws(() => parsePackageName(name), refused('package name'), JSON.stringify(name))
  }
})

const VERSIONS = [
  '0',
  '1',
  '1.0',
  '1.02.3',
  '20240131',
  '1.0a',
  '1a',
  '1.0-r0',
  '1-r12',
  '1.2.3b_rc4_p5-r6',
  '1_alpha',
  '1_beta1',
  '1_pre',
  '1_rc',
  '1_cvs3',
  '1_svn',
  '1_git20240131',
  '1_hg',
  '1_p0',
]

t.test('valid package versions are accepted and invalid ones refused', async (t) => {
  for (const version of [...VERSIONS, '1.0~c0ffee', '1.0_git20240131~c0ffee-r1']) {
    t.equal(parseVersion(version), version)
  }
  t.strictSame(await pmbValidVersions(VERSIONS), VERSIONS, 'pmbootstrap accepts the same versions')
  const wrong = [
    'v1',
    '1.',
    '.1',
    '1..0',
    '1.0ab',
    '1.0A',
    '1.a',
    '1_',
    '1_foo',
    '1-r',
    '1-rx',
    '1-1',
    '1-r1-r2',
    '1.0 ',
    '1.0_rc-r',
    '1~',
    '1~xyz',
    '1~C0FFEE',
    '1-r1_p1',
    '-r1',
    'latest',
  ]
  for (const version of [...ODD, ...wrong]) {
    t.throws(() => parseVersion(version), refused('package version'), JSON.stringify(version))
  }
})

t.test('a crafted version is refused without backtracking', async (t) => {
  for (const piece of ['1.', '_p1', '_p', '~a', '-r1', 'r']) {
    t.throws(() => parseVersion(`1${piece.repeat(200_000)}!`), refused('package version'), piece)
  }
})

t.test('valid architectures are accepted and invalid ones refused', async (t) => {
  for (const name of ['x86_64', 'aarch64', 'noarch', 'my_arch', '_']) {
    t.equal(parseArchitecture(name), name)
  }
  for (const name of [...ODD, 'X86', '..', '.', 'x-86', 'a'.repeat(81)]) {
    t.throws(() => parseArchitecture(name), refused('package architecture'), JSON.stringify(name))
  }
})

t.test('valid branches and repositories are accepted and invalid ones refused', async (t) => {
  for (const name of ['v3.20', 'edge', 'main', '...', 'a+b_c~d-e', '-']) {
    const params = { branch: name, repository: 'main' }
    t.strictSame(parseRepository(params), params)
  }
  for (const name of [...ODD, '.', '..', 'a'.repeat(81)]) {
    const said = JSON.stringify(name)
    t.throws(() => parseRepository({ branch: name, repository: 'r' }), refused('branch'), said)
    t.throws(() => parseRepository({ branch: 'b', repository: name }), refused('repository'), said)
  }
})

t.test('a file name is split into package and version', async (t) => {
  const names = fc.stringMatching(/^[a-z0-9_][a-z0-9._+-]{0,20}$/)
  await fc.assert(
    fc.asyncProperty(names, fc.constantFrom(...VERSIONS), async (packageName, version) => {
      const id = { packageName, version }
      t.strictSame(readFileName(fileNameOf(id)), id)
    }),
  )
  t.strictSame(readFileName('A-2-1.0-R0.APK'), { packageName: 'A-2', version: '1.0-R0' })
  for (const name of [
    '',
    'a',
    'a.apk',
    'a-.apk',
    '-1.apk',
    'a-b.apk',
    'a-1.apkx',
    'a-1',
    '1.apk',
  ]) {
    t.equal(readFileName(name), undefined, name)
  }
  t.equal(readFileName(`${'-1'.repeat(100_000)}.apk`), undefined)
})
