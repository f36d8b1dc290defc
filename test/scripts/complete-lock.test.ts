/** The lock file lists every platform package, so that `npm ci` works on every platform. */

import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import t, { type Test } from 'tap'

const ROOT = new URL('../../../', import.meta.url).pathname
const SCRIPT = `${ROOT}dist/scripts/complete-lock.js`

interface Entry {
  readonly version?: string
  readonly optional?: boolean
  readonly os?: readonly string[]
  readonly cpu?: readonly string[]
  readonly libc?: string | readonly string[]
  readonly engines?: object
  readonly license?: string
  readonly resolved?: string
  readonly optionalDependencies?: Readonly<Record<string, string>>
}
type Entries = Readonly<Record<string, Entry>>

function entriesOf(path: string): Entries {
  return JSON.parse(readFileSync(path, 'utf8')).packages
}

/** Returns the entries after the script has completed a lock file with these. */
function completed(t: Test, packages: Entries): Entries {
  const folder = t.testdir({ 'package-lock.json': JSON.stringify({ packages }) })
  execFileSync(process.execPath, [SCRIPT], { cwd: folder, stdio: 'pipe' })
  return entriesOf(`${folder}/package-lock.json`)
}

const ours = entriesOf(`${ROOT}package-lock.json`)

t.test(
  'our lock file lists every optional package (otherwise run node dist/scripts/complete-lock.js)',
  (t) => {
    for (const [path, { optionalDependencies = {} }] of Object.entries(ours)) {
      for (const [name, version] of Object.entries(optionalDependencies)) {
        const entry = ours[`${path}/node_modules/${name}`] ?? ours[`node_modules/${name}`]
        t.ok(entry?.version, `${path} requires ${name} ${version}`)
      }
    }
    t.end()
  },
)

t.test('our lock file lists all 24 packages of uWebSockets.js with their platforms', async (t) => {
  const wanted = Object.keys(ours['node_modules/uWebSockets.js']?.optionalDependencies ?? {})
  t.equal(wanted.length, 24)
  for (const name of wanted) {
    const [, os = '', cpu = '', node = ''] = /^@uwsjs\/(\w+)-(\w+)-(\d+)$/.exec(name) ?? []
    t.match(ours[`node_modules/${name}`], {
      os: [os],
      cpu: [cpu],
      engines: { node: new RegExp(`>=${node}\\.`) },
    })
  }
})

t.test(
  'our lock file has the platform of each platform package, so that one is installed',
  async (t) => {
    const platforms = Object.entries(ours).filter(([path, entry]) => {
      return entry.optional && /-(?:linux|darwin|win32|android|freebsd)-/.test(path)
    })
    t.ok(platforms.length > 50)
    for (const [path, entry] of platforms) t.ok(entry.os && entry.cpu, path)
  },
)

t.test('our lock file contains no registry address', async (t) => {
  const named = Object.entries(ours).filter(([, entry]) => entry.resolved !== undefined)
  t.strictSame(named, [], 'run npm with --omit-lockfile-registry-resolved')
})

t.test("packages that npm omitted are added in npm's order", async (t) => {
  const parent = {
    version: '1.2.3',
    optionalDependencies: { '@a/linux-x64-20': '1.2.3', '@a/darwin-arm64-22': '1.2.3' },
  }
  const present = { version: '1.2.3', license: 'MIT', engines: { node: '20' } }
  const entries = completed(t, {
    '': {},
    'node_modules/@a/linux-x64-20': present,
    'node_modules/a': parent,
  })
  t.strictSame(Object.keys(entries), [
    '',
    'node_modules/@a/darwin-arm64-22',
    'node_modules/@a/linux-x64-20',
    'node_modules/a',
  ])
  t.strictSame(entries['node_modules/@a/linux-x64-20'], present, 'existing entries are kept')
  t.match(entries['node_modules/@a/darwin-arm64-22'], {
    version: '1.2.3',
    os: ['darwin'],
    cpu: ['arm64'],
    optional: true,
    license: 'MIT',
  })
})

t.test('the C library of a Linux package is derived from its name', async (t) => {
  const names = ['a-linux-x64-musl', 'a-linux-arm-gnueabihf', 'a-linux-arm64-gnu', 'a-freebsd-x64']
  const optionalDependencies = Object.fromEntries(names.map((name) => [name, '1.0.0']))
  const entries = completed(t, { 'node_modules/a': { version: '1.0.0', optionalDependencies } })
  const libcs = names.map((name) => entries[`node_modules/${name}`]?.libc)
  t.strictSame(libcs, [['musl'], ['glibc'], ['glibc'], undefined])
})

t.test('a package nested under its parent counts as listed', async (t) => {
  const optionalDependencies = { 'b-linux-x64': '2.0.0' }
  const before = {
    'node_modules/a/node_modules/b': { version: '2.0.0', optionalDependencies },
    'node_modules/a/node_modules/b-linux-x64': { version: '2.0.0' },
  }
  t.strictSame(completed(t, before), before)
  const elsewhere = { ...before, 'node_modules/b': { version: '2.0.0', optionalDependencies } }
  t.ok(completed(t, elsewhere)['node_modules/b-linux-x64'], 'not for another parent')
})

t.test('a package of unknown platform or version range stops the script', async (t) => {
  for (const wanted of [{ 'a-amiga-m68k': '1.0.0' }, { 'a-linux-x64': '^1.0.0' }]) {
    const entries = { 'node_modules/a': { version: '1.0.0', optionalDependencies: wanted } }
    t.throws(
      () => completed(t, entries as unknown as Entries),
      /no known platform|needs one version/,
    )
  }
})
