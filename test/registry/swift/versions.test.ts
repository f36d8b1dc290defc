/** Versions follow Semantic Versioning 2.0.0, also in their order. */

import t from 'tap'
import { parseVersion, sortVersions } from '../../../registry/swift/versions.js'

t.test('valid versions are accepted unchanged', async (t) => {
  const versions = ['0.0.0', '1.2.3', '10.20.30', '1.0.0-alpha', '1.0.0-alpha.1', '1.0.0-x-y-z.--']
  for (const version of [...versions, '1.0.0+20130313144700', '1.0.0-beta+exp.sha.5114f85']) {
    t.equal(parseVersion(version), version)
  }
})

t.test('invalid versions are refused', async (t) => {
  const others = ['', '1', '1.2', '1.2.3.4', 'v1.2.3', '=1.2.3', ' 1.2.3', '1.2.3 ', '1.2.3\n']
  const odd = ['01.2.3', '1.2.3-', '1.2.3+', '1.2.3-01', '1.2.3-é', '1.2.3-a..b', '1_0.0', '1.2.x']
  const large = ['9007199254740992.0.0', `1.0.0-${'a'.repeat(300)}`, `1.0.0-${'1.'.repeat(50_000)}`]
  for (const text of [...others, ...odd, ...large]) {
    t.throws(
      () => parseVersion(text),
      { failure: 'bad_request', message: /must have the form/ },
      text,
    )
  }
})

t.test('a version that ends like a file name is refused', async (t) => {
  for (const text of ['1.0.0-a.zip', '1.0.0+a.JSON', '1.0.0-1.json']) {
    t.throws(
      () => parseVersion(text),
      { failure: 'bad_request', message: /must not end with/ },
      text,
    )
  }
  t.equal(parseVersion('1.0.0-zip'), '1.0.0-zip')
})

t.test("the highest precedence is first, as in the standard's example", async (t) => {
  const rising = [
    '1.0.0-alpha',
    '1.0.0-alpha.1',
    '1.0.0-alpha.beta',
    '1.0.0-beta',
    '1.0.0-beta.2',
    '1.0.0-beta.11',
    '1.0.0-rc.1',
    '1.0.0',
    '1.9.0',
    '1.10.0',
    '2.0.0-rc.1',
    '2.0.0',
  ]
  const given = [...rising].sort().map((version) => ({ version }))
  t.strictSame(
    sortVersions(given).map(({ version }) => version),
    [...rising].reverse(),
  )
})

t.test('build metadata has no precedence and keeps its order', async (t) => {
  const given = ['1.0.0+b', '1.0.0+a', '1.0.1', '1.0.0'].map((version) => ({ version }))
  t.strictSame(
    sortVersions(given).map(({ version }) => version),
    ['1.0.1', '1.0.0+b', '1.0.0+a', '1.0.0'],
  )
})
