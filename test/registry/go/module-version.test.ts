/** Module versions: valid ones, their order in lists, and the latest. */

import t from 'tap'
import {
  describesCommit,
  latestVersion,
  listableVersions,
  parsePseudoVersion,
  pseudoVersion,
  versionError,
} from '../../../registry/go/module-version.js'

t.test('a version has its canonical form', async (t) => {
  const module = { path: 'x.y/z', hasGoMod: true }
  const taken = [
    'v0.0.0',
    'v1.2.3',
    'v1.0.0-rc.1',
    'v1.0.0-RC1',
    'v0.0.0-20200102030405-abcdef123456',
    'v1.2.4-0.20200102030405-abcdef123456',
    'v1.0.0-0',
    'v1.0.0--',
    'v1.0.0-a.b-c.0',
  ]
  for (const version of taken) t.equal(versionError(version, module), undefined, version)
  const refused = [
    '',
    'v',
    '1.2.3',
    'v1',
    'v1.2',
    'v1.2.3.4',
    'V1.2.3',
    'vv1.2.3',
    'v01.2.3',
    'v1.02.3',
    'v1.2.3-',
    'v1.2.3-01',
    'v1.2.3-a..b',
    'v1.2.3+linux',
    'v1.2.3-rc+x',
    'v1.2.3 ',
    ' v1.2.3',
    'v1.2.3\n',
    'v1.2.3\nv9.9.9',
    'v1.2.3-é',
    'v1.2.3-a_b',
    'latest',
    'master',
    'v-1.2.3',
    `v1.0.0-${'a'.repeat(300)}`,
    `v1.0.${'9'.repeat(17)}`,
    '=v1.2.3',
    'v1.2.x',
  ]
  for (const version of refused) {
    t.type(versionError(version, module), 'string', JSON.stringify(version))
  }
})

t.test('the module path and the major version must agree', async (t) => {
  const fits = (name: string) => {
    const [path = '', version = ''] = name.split('@')
    return versionError(version, { path, hasGoMod: true }) === undefined
  }
  const taken = [
    'x.y/z@v0.8.0',
    'x.y/z@v1.0.0',
    'x.y/z/v2@v2.1.5',
    'x.y/z/v2@v2.0.0-rc.1',
    'x.y/z/v12@v12.0.0',
    'gopkg.in/yaml.v0@v0.8.0',
    'gopkg.in/yaml.v1@v1.0.0',
    'gopkg.in/yaml.v1@v0.0.0-20200102030405-abcdef123456',
    'gopkg.in/yaml.v2@v2.1.5',
    'gopkg.in/yaml.v2-unstable@v2.1.5',
  ]
  for (const name of taken) t.ok(fits(name), name)
  const refused = [
    'x.y/z@v2.0.0',
    'x.y/z@v10.0.0',
    'x.y/z/v2@v1.0.0',
    'x.y/z/v2@v3.0.0',
    'x.y/z/v2@v20.0.0',
    'gopkg.in/yaml.v1@v2.0.0',
    'gopkg.in/yaml.v2@v0.0.0-20200102030405-abcdef123456',
  ]
  for (const name of refused) t.notOk(fits(name), name)
})

t.test('only a module without go.mod can be incompatible', async (t) => {
  const why = (path: string, version: string, hasGoMod = false) =>
    versionError(version, { path, hasGoMod })
  t.equal(why('x.y/z', 'v2.0.0+incompatible'), undefined)
  t.equal(why('x.y/z', 'v3.0.0-rc.1+incompatible'), undefined)
  t.match(why('x.y/z', 'v2.0.0+incompatible', true), /with a go.mod cannot be/)
  t.match(why('x.y/z', 'v1.0.0+incompatible'), /requires v2 or higher/)
  t.match(why('x.y/z/v2', 'v2.0.0+incompatible'), /requires v2 or higher/)
  t.match(why('gopkg.in/yaml.v2', 'v2.0.0+incompatible'), /requires v2 or higher/)
  t.type(why('x.y/z', '+incompatible'), 'string')
})

const OLD = 'v0.0.0-20200102030405-abcdef123456'
const NEW = 'v0.0.0-20210102030405-0bcdef123456'

t.test('a list is ordered by version and has no pseudo-versions', async (t) => {
  const versions = ['v1.10.0', 'v1.9.0', NEW, 'v1.10.0-rc.2', 'v1.10.0-rc.10']
  t.strictSame(listableVersions(['v2.0.0+incompatible', ...versions]), [
    'v1.9.0',
    'v1.10.0-rc.2',
    'v1.10.0-rc.10',
    'v1.10.0',
    'v2.0.0+incompatible',
  ])
  t.strictSame(listableVersions([OLD, 'v1.2.4-0.20200102030405-abcdef123456']), [])
  t.strictSame(listableVersions(['v1.2.4-pre.0.20200102030405-abcdef123456+incompatible']), [])
  t.strictSame(listableVersions(['v1.2.4-0.2020010203040-abc']), ['v1.2.4-0.2020010203040-abc'])
})

t.test('the latest is a release, else a pre-release, else a pseudo-version', async (t) => {
  const latest = (versions: readonly string[]) =>
    latestVersion(versions, async () => t.fail('must not be called if all versions are compatible'))
  t.equal(await latest(['v1.0.0', 'v1.10.0', 'v1.9.0', 'v1.11.0-rc.1', NEW]), 'v1.10.0')
  t.equal(await latest(['v1.0.0-rc.2', 'v1.0.0-rc.10', NEW]), 'v1.0.0-rc.10')
  t.equal(await latest([NEW, OLD]), NEW)
  const higher = 'v1.2.4-0.20190102030405-abcdef123456'
  t.equal(await latest([higher, NEW, OLD]), NEW, 'by time, not by number')
  t.equal(await latest([]), undefined)
})

t.test(
  'an incompatible version is the latest only if no compatible one has a go.mod',
  async (t) => {
    const asked: string[] = []
    const latest = (versions: readonly string[], hasGoMod: boolean) =>
      latestVersion(versions, async (version) => {
        asked.push(version)
        return hasGoMod
      })
    const versions = ['v2.0.0+incompatible', 'v1.1.0', 'v1.2.0-rc.1', 'v1.0.0']
    t.equal(await latest(versions, false), 'v2.0.0+incompatible')
    t.equal(await latest(versions, true), 'v1.1.0')
    t.strictSame(asked, ['v1.2.0-rc.1', 'v1.2.0-rc.1'])
    t.equal(await latest(['v2.0.0+incompatible', NEW], true), 'v2.0.0+incompatible')
  },
)

t.test('a pseudo-version has the next version of its base, and is parsed again', async (t) => {
  const commit = { id: 'abcdef1234567890', committedAtMs: Date.UTC(2020, 0, 2, 3, 4, 5) }
  const end = '20200102030405-abcdef123456'
  const cases = [
    [undefined, '', `v0.0.0-${end}`],
    [undefined, 'v2', `v2.0.0-${end}`],
    ['v1.2.3', '', `v1.2.4-0.${end}`],
    ['v1.2.9', '', `v1.2.10-0.${end}`],
    ['v1.2.3-rc.1', '', `v1.2.3-rc.1.0.${end}`],
    ['v2.0.0', 'v2', `v2.0.1-0.${end}`],
  ] as const
  for (const [base, pathMajor, version] of cases) {
    t.equal(pseudoVersion(commit, { base, pathMajor }), version)
    const parsed = parsePseudoVersion(version)
    t.match(parsed, { base, time: '20200102030405', revision: 'abcdef123456' }, version)
    t.ok(parsed && describesCommit(parsed, commit))
    t.notOk(parsed && describesCommit(parsed, { ...commit, committedAtMs: 0 }))
    t.notOk(parsed && describesCommit(parsed, { ...commit, id: 'abcdef1234ff7890' }))
  }
  t.equal(parsePseudoVersion(`v2.0.1-0.${end}+incompatible`)?.base, 'v2.0.0')
  for (const version of ['v1.2.3', `v1.2.3-${end}`, 'v0.0.0-20200102-abcdef']) {
    t.equal(parsePseudoVersion(version), undefined, version)
  }
})
