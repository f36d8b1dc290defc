/** Archives and diffs over the API and at the web addresses. */

import { appendFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { runToEnd } from '../../../../cgi/process/run.js'
import { BASE_URL } from '../../../helpers/gateway.js'
import { startGatewayWithRepository } from '../../../helpers/gateway-with-repository.js'
import { untilAllCached } from '../../../helpers/pack-cache-counts.js'
import { temporaryFolder } from '../../../helpers/temporary.js'

t.test('an archive of any revision name is readable by tar', async (t) => {
  const { get, ask, commits } = await startGatewayWithRepository(t)
  const [first, second] = commits
  const file = join(await temporaryFolder(t), 'x.tar.gz')
  const listed = async (bytes: Buffer) => {
    await writeFile(file, bytes)
    const { output } = await runToEnd('tar', ['-tzf', file], {
      environment: { PATH: '/usr/bin:/bin' },
      timeoutMs: 30_000,
      outputBytesMax: 65_536,
    })
    return output.toString().split('\n').filter(Boolean)
  }
  const { status, headers, bytes } = await get('archive/feature/x.tar.gz')
  t.equal(status, 200)
  t.match(headers, {
    'content-type': 'application/gzip',
    'content-disposition': 'attachment; filename="r-feature-x.tar.gz"',
    link: `<${BASE_URL}/ada/r/archive/${second}.tar.gz?rev=feature%2Fx>; rel="immutable"`,
  })
  const paths = await listed(bytes)
  t.ok(paths.includes('r/README.md') && paths.includes('r/src/main.ts'), paths.join())
  t.strictSame(await listed((await get(`archive/${first}.tar.gz`)).bytes), ['r/', 'r/README.md'])
  const web = await ask({ path: '/ada/r/archive/v1.tar.gz' })
  t.strictSame(await listed(web.bytes), ['r/', 'r/README.md'])
  const zip = await get('archive/v1.zip')
  t.match([zip.headers['content-type'], zip.text.slice(0, 2)], ['application/zip', 'PK'])
  const head = await ask({ method: 'HEAD', path: '/ada/r/archive/v1.zip' })
  t.match([head.status, head.text], [200, ''])
  for (const name of ['absent.zip', 'main', 'main.rar', '.zip', 'main~1.zip', '--output=x.zip']) {
    t.equal((await get(`archive/${name}`)).status, 404, name)
    t.equal((await ask({ path: `/ada/r/archive/${name}` })).status, 404, name)
  }
})

t.test('a stored archive equals a new one, until the attributes change', async (t) => {
  const { get, folder, settings } = await startGatewayWithRepository(t)
  for (const format of ['tar.gz', 'zip']) {
    const first = await get(`archive/main.${format}`)
    t.equal(first.headers['content-length'], undefined, 'the first is streamed from git')
    await get(`archive/main.${format}`)
    await untilAllCached(settings.data.dir)
    const stored = await get(`archive/main.${format}`)
    t.equal(stored.headers['content-length'], String(first.bytes.length), 'the third is stored')
    t.ok(stored.bytes.equals(first.bytes))
    const other = await get(`archive/v1.${format}`)
    t.equal(other.headers['content-length'], undefined, 'another commit')
  }
  await appendFile(join(folder, 'info', 'attributes'), 'data.bin export-ignore\n')
  const changed = await get('archive/main.zip')
  t.equal(changed.headers['content-length'], undefined)
  t.notMatch(changed.bytes.toString('latin1'), 'data.bin')
})

t.test('a private repository is 404 for others on both addresses', async (t) => {
  const { as, ask, get, authorizationOf } = await startGatewayWithRepository(t)
  await as('ada', 'PATCH', '/repos/ada/r', { private: true })
  t.equal((await get('archive/main.zip')).status, 404)
  for (const path of ['/ada/r/archive/main.zip', '/ada/r/raw/branch/main/README.md']) {
    t.equal((await ask({ path })).status, 404, path)
    t.equal((await ask({ path, authorization: authorizationOf('ada') })).status, 200, path)
    t.equal((await ask({ path, authorization: authorizationOf('bob') })).status, 404, path)
  }
})

t.test('a commit is served as a diff and as a patch', async (t) => {
  const { get, commits } = await startGatewayWithRepository(t)
  const diff = await get('git/commits/main.diff')
  t.match(diff, { status: 200, text: /^diff --git a\/README\.md b\/README\.md\n[\s\S]*\+more\n$/ })
  t.equal(diff.headers['content-type'], 'text/plain; charset=utf-8')
  const patch = await get(`git/commits/${commits[0]}.patch`)
  t.match(patch.text, /^From [0-9a-f]{40} [\s\S]*Subject: \[PATCH\] Write README\.md/)
  for (const name of ['absent.diff', '--output=x.patch', 'main~1.diff']) {
    t.equal((await get(`git/commits/${name}`)).status, 404, name)
  }
})
