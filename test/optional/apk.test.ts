/** Alpine packages and their dependencies, as parsed and resolved by libsolv. */

import t, { type Test } from 'tap'
import { apk, type PackageLines } from '../helpers/apks.js'
import { startGatehouse } from '../helpers/gatehouse.js'
import {
  type SolvAnswer,
  type SolvPackage,
  solvIndex,
  solvInstall,
  solvPackage,
} from '../helpers/libsolv.js'

const gatehouse = await startGatehouse(t)
const ada = await gatehouse.addUser('ada')

/** A repository of ada; each call downloads its index again. */
interface Repository {
  publish(...packages: readonly PackageLines[]): Promise<void>
  /** Deletes the file of an architecture. */
  remove(arch: string, fileName: string): Promise<void>
  index(arch: string): Promise<Buffer>
  file(arch: string, fileName: string): Promise<Buffer>
  /** Resolves an installation on an empty machine; `wanted` has libsolv's syntax. */
  install(arch: string, ...wanted: readonly string[]): Promise<SolvAnswer>
}

function repositoryOf(t: Test, place: string): Repository {
  const base = `${gatehouse.url}/api/packages/ada/alpine/${place}`
  const index = (arch: string) => download(`${base}/${arch}/APKINDEX.tar.gz`)
  return {
    index,
    file: (arch, fileName) => download(`${base}/${arch}/${fileName}`),
    install: async (arch, ...wanted) => solvInstall(t, { index: await index(arch), arch, wanted }),
    async publish(...packages) {
      for (const lines of packages) {
        const answer = await send(base, { method: 'PUT', body: new Uint8Array(apk(lines)) })
        t.equal(answer.status, 201)
      }
    },
    async remove(arch, fileName) {
      const answer = await send(`${base}/${arch}/${fileName}`, { method: 'DELETE' })
      t.equal(answer.status, 204)
    },
  }
}

async function download(url: string): Promise<Buffer> {
  const response = await fetch(url)
  if (response.status !== 200) throw new Error(`${response.status} ${url}`)
  return Buffer.from(await response.arrayBuffer())
}

function send(url: string, init: RequestInit): Promise<Response> {
  return fetch(url, { ...init, headers: { authorization: `token ${ada.token}` } })
}

/** Attributes that abuild writes to every package. */
const MADE = {
  pkgdesc: 'Says "hello", and good-bye — 100 %',
  url: 'https://hello.test/?a=b',
  license: 'MIT AND (ISC OR 0BSD)',
  origin: 'greetings',
  builddate: '1700000000',
  size: '4294967296',
  maintainer: 'Ada <ada@hello.test>',
}

/** Attributes of `MADE` under libsolv's names. */
const MADE_SEEN = {
  summary: MADE.pkgdesc,
  description: MADE.pkgdesc,
  url: MADE.url,
  license: MADE.license,
  sourcename: MADE.origin,
  buildtime: 1_700_000_000,
  installsize: 4_294_967_296,
}

const HELLO = {
  ...MADE,
  pkgname: 'hello',
  depend: ['libhello>=1.0', 'so:libhello.so.1', 'musl~1.2', '!goodbye<2'],
  provides: ['cmd:hello=1.0-r0', 'greeter'],
}
const LIBHELLO = { ...MADE, pkgname: 'libhello', provides: 'so:libhello.so.1=1.0.3' }
const MUSL = { ...MADE, pkgname: 'musl', pkgver: '1.2.5-r1' }
const DOCS = {
  ...MADE,
  pkgname: 'hello-doc',
  arch: 'noarch',
  install_if: 'docs hello=1.0-r0',
}

/** Expected attributes of the packages above, by file name. */
const SEEN: Readonly<Record<string, SolvPackage>> = {
  'hello-1.0-r0': {
    ...MADE_SEEN,
    name: 'hello',
    evr: '1.0-r0',
    provides: ['cmd:hello = 1.0-r0', 'greeter', 'hello = 1.0-r0'],
    requires: ['libhello >= 1.0', 'musl = ~1.2', 'so:libhello.so.1'],
    conflicts: ['goodbye < 2'],
  },
  'hello-doc-1.0-r0': {
    ...MADE_SEEN,
    name: 'hello-doc',
    evr: '1.0-r0',
    provides: ['hello-doc = 1.0-r0'],
    supplements: ['(hello = 1.0-r0 and docs)'],
  },
  'libhello-1.0-r0': {
    ...MADE_SEEN,
    name: 'libhello',
    evr: '1.0-r0',
    provides: ['libhello = 1.0-r0', 'so:libhello.so.1 = 1.0.3'],
  },
  'libhello-1.1-r0': {
    ...MADE_SEEN,
    name: 'libhello',
    evr: '1.1-r0',
    provides: ['libhello = 1.1-r0', 'so:libhello.so.1 = 1.0.3'],
  },
  'musl-1.2.5-r1': {
    ...MADE_SEEN,
    name: 'musl',
    evr: '1.2.5-r1',
    provides: ['musl = 1.2.5-r1'],
  },
}

t.test("an index lists the published packages with the files' checksums", async (t) => {
  const { publish, index, file } = repositoryOf(t, 'v3.20/main')
  await publish(HELLO, LIBHELLO, MUSL, DOCS, { ...LIBHELLO, pkgver: '1.1-r0' })
  await publish(...[HELLO, LIBHELLO].map((lines) => ({ ...lines, arch: 'aarch64' })))
  const wanted = {
    x86_64: Object.keys(SEEN),
    aarch64: ['hello-1.0-r0', 'hello-doc-1.0-r0', 'libhello-1.0-r0'],
    riscv64: ['hello-doc-1.0-r0'],
  }
  for (const [arch, ids] of Object.entries(wanted)) {
    const packages = await solvIndex(t, await index(arch))
    t.strictSame(packages.map(idOf).sort(), ids, arch)
    for (const listed of packages) {
      const id = idOf(listed)
      const { hdrid, downloadsize, ...attributes } = listed
      t.strictSame(attributes, { ...SEEN[id], arch }, `${id} for ${arch}`)
      const bytes = await file(arch, `${id}.apk`)
      t.equal(downloadsize, bytes.length)
      const ownArch = id === 'hello-doc-1.0-r0' ? 'noarch' : arch
      const fromFile = { ...attributes, arch: ownArch, hdrid }
      t.strictSame(await solvPackage(t, bytes), fromFile, 'the file has the same attributes')
      t.match(hdrid, { type: 'sha1', value: /^[0-9a-f]{40}$/ })
    }
  }
})

function idOf({ name, evr }: SolvPackage): string {
  return `${name}-${evr}`
}

t.test('the newest version and its dependencies are installed after each change', async (t) => {
  const { publish, remove, install } = repositoryOf(t, 'v3.20/changes')
  const depend = ['libhello>=1.0', 'so:libhello.so.1']
  const provides = 'so:libhello.so.1=1.0'
  await publish({ pkgname: 'hello', depend }, { pkgname: 'libhello', provides })
  await publish({ pkgname: 'other', arch: 'noarch' })
  const first = { installed: ['hello-1.0-r0.x86_64', 'libhello-1.0-r0.x86_64'], problems: [] }
  t.strictSame(await install('x86_64', 'name hello'), first)

  await publish({ pkgname: 'libhello', pkgver: '1.9-r0', provides })
  await publish({ pkgname: 'libhello', pkgver: '1.10-r0', provides })
  await publish({ pkgname: 'hello', pkgver: '1.2-r0', depend, provides: 'cmd:greet=1.2-r0' })
  const newest = { installed: ['hello-1.2-r0.x86_64', 'libhello-1.10-r0.x86_64'], problems: [] }
  t.strictSame(await install('x86_64', 'name hello'), newest)
  t.strictSame(await install('x86_64', 'provides cmd:greet'), newest, 'found by a provided command')
  const older = ['hello-1.0-r0.x86_64', 'libhello-1.9-r0.x86_64']
  const chosen = await install('x86_64', 'name hello = 1.0-r0', 'name libhello < 1.10')
  t.strictSame(chosen, { installed: older, problems: [] }, 'the requested versions')

  await remove('x86_64', 'libhello-1.10-r0.apk')
  t.strictSame(await install('x86_64', 'name hello'), {
    installed: ['hello-1.2-r0.x86_64', 'libhello-1.9-r0.x86_64'],
    problems: [],
  })
  await remove('x86_64', 'hello-1.2-r0.apk')
  t.strictSame(await install('x86_64', 'name hello'), { installed: older, problems: [] })
})

/** Versions in apk's order, newest first. */
const VERSIONS = [
  '2.0-r0',
  '1.10-r0',
  '1.9b-r0',
  '1.9a-r0',
  '1.9_p2-r0',
  '1.9_p1-r0',
  '1.9_git20240101-r0',
  '1.9-r10',
  '1.9-r9',
  '1.9-r0',
  '1.9_rc2-r0',
  '1.9_rc1-r0',
  '1.9_beta3-r0',
  '1.9_alpha-r0',
  '1.8.10-r0',
  '1.8.9-r0',
  '1.8-r0',
]

t.test('the next older version is installed after the newest is deleted', async (t) => {
  const { publish, remove, install } = repositoryOf(t, 'v3.20/versions')
  await publish(...VERSIONS.toSorted().map((pkgver) => ({ pkgname: 'hello', pkgver })))
  await publish({ pkgname: 'other' })
  for (const version of VERSIONS) {
    t.strictSame(await install('x86_64', 'name hello'), {
      installed: [`hello-${version}.x86_64`],
      problems: [],
    })
    await remove('x86_64', `hello-${version}.apk`)
  }
  t.strictSame(await install('x86_64', 'name hello'), {
    installed: [],
    problems: ['package hello does not exist'],
  })
})

t.test('each architecture gets its own packages and those for all', async (t) => {
  const { publish, remove, install } = repositoryOf(t, 'edge/main')
  const tool = { pkgname: 'tool', depend: 'data' }
  await publish({ ...tool, pkgver: '1.1-r0', arch: 'x86_64' }, { ...tool, arch: 'aarch64' })
  await publish({ pkgname: 'data', arch: 'noarch' })
  await publish({ pkgname: 'only', arch: 'aarch64' })
  t.strictSame((await install('x86_64', 'name tool')).installed, [
    'data-1.0-r0.x86_64',
    'tool-1.1-r0.x86_64',
  ])
  t.strictSame((await install('aarch64', 'name tool', 'name only')).installed, [
    'data-1.0-r0.aarch64',
    'only-1.0-r0.aarch64',
    'tool-1.0-r0.aarch64',
  ])
  t.strictSame((await install('riscv64', 'name data')).installed, ['data-1.0-r0.riscv64'])
  t.strictSame((await install('x86_64', 'name only')).problems, ['package only does not exist'])
  await remove('noarch', 'data-1.0-r0.apk')
  for (const arch of ['x86_64', 'aarch64']) {
    t.match((await install(arch, 'name tool')).problems, [/^nothing provides data needed by tool-/])
  }
})

t.test('missing dependencies and conflicts are reported as problems', async (t) => {
  const { publish, install } = repositoryOf(t, 'edge/problems')
  await publish({ pkgname: 'hello', depend: ['libhello>1.0-r0', '!goodbye'] })
  const missing = 'nothing provides libhello>1.0-r0 needed by hello-1.0-r0.x86_64'
  const nothing = { installed: [], problems: [missing] }
  t.strictSame(await install('x86_64', 'name hello'), nothing)
  await publish({ pkgname: 'libhello' })
  t.strictSame(await install('x86_64', 'name hello'), nothing, 'the published version is too old')
  await publish({ pkgname: 'libhello', pkgver: '1.0-r1' }, { pkgname: 'goodbye' })
  t.strictSame(await install('x86_64', 'name hello'), {
    installed: ['hello-1.0-r0.x86_64', 'libhello-1.0-r1.x86_64'],
    problems: [],
  })
  t.strictSame((await install('x86_64', 'name hello', 'name goodbye')).problems, [
    'package hello-1.0-r0.x86_64 conflicts with goodbye provided by goodbye-1.0-r0.x86_64',
  ])
  t.strictSame((await install('x86_64', 'name hello = 2.0-r0')).problems, [
    'package hello=2.0-r0 does not exist',
  ])
})
