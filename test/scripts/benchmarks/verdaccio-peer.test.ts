/** The npm registry of the document benchmark lists every version that it was given. */

import { existsSync } from 'node:fs'
import t from 'tap'
import { startVerdaccioPeer, VERDACCIO } from '../../../scripts/benchmarks/verdaccio-peer.js'
import { temporaryFolder } from '../../helpers/temporary.js'

t.test('a package is served with all of its versions to anonymous clients', async (t) => {
  if (!existsSync(VERDACCIO)) {
    t.comment('skipped: scripts/verdaccio installs the registry')
    return
  }
  const { signal } = new AbortController()
  const peer = await startVerdaccioPeer({ folder: await temporaryFolder(t), signal })
  t.teardown(() => peer.stop())
  await peer.addPackage('bench', ['1.0.0', '1.1.0', '2.0.0'])
  const answer = await fetch(`${peer.url}/bench`)
  t.equal(answer.status, 200)
  const told = (await answer.json()) as Record<string, Record<string, object>>
  t.strictSame(Object.keys(told['versions'] ?? {}), ['1.0.0', '1.1.0', '2.0.0'])
  t.match(told, {
    'dist-tags': { latest: '2.0.0' },
    versions: { '1.1.0': { name: 'bench', dist: { tarball: /bench-1\.1\.0\.tgz$/ } } },
  })
  t.equal((await fetch(`${peer.url}/other`)).status, 404, 'it uses no other registry')
})
