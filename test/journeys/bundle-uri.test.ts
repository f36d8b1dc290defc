/** Clones that start with a bundle (`transfer.bundleURI`), if both sides run a git with support. */

import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { runToEnd } from '../../cgi/process/run.js'
import { deleteToken } from '../../sql/accounts/tokens.js'
import { untilCached, untilOffered } from '../helpers/bundle-offers.js'
import type { Fixture } from '../helpers/gateway.js'
import { git } from '../helpers/git-client.js'
import { LIBRARY, startNewerLibrary } from '../helpers/newer-library.js'
import { withToken } from '../helpers/requests.js'
import { temporaryFolder } from '../helpers/temporary.js'

const FSCK = ['fsck', '--full', '--no-dangling', '--no-progress']

/** Returns the statuses of the requests below `bundles/`. */
function bundleAnswers({ lines }: Pick<Fixture, 'lines'>): readonly number[] {
  return lines
    .filter(({ msg, path }) => msg === 'request' && String(path).includes('/bundles/'))
    .map(({ status }) => Number(status))
}

/** Server of all tests; the last one makes its repository private. */
const scene = await startNewerLibrary(t)

t.test('a client with transfer.bundleURI clones from a bundle', async (t) => {
  const { port, address, clone, plainClone, origin, push } = scene
  const before = await untilOffered({ port, path: LIBRARY })
  const plain = await plainClone(address)
  t.strictSame(bundleAnswers(scene), [], 'other clients request no bundle')
  const bundled = await clone(address)
  t.equal(bundled.exitCode, 0, bundled.errorText.slice(-2_000))
  t.strictSame(bundleAnswers(scene), [200])
  t.equal(await git(FSCK, { cwd: bundled.path }), '')
  t.equal(await referencesOf(bundled.path), await referencesOf(plain.path))
  t.equal(await git(['status', '--porcelain'], { cwd: bundled.path }), '')
  const shallow = await clone(address, '--depth=1')
  t.equal(await git(['rev-list', '--count', 'HEAD'], { cwd: shallow.path }), '1')

  const tip = await origin.commit('later')
  await push('main', ':branch-2')
  const stale = await plainClone(address, `--bundle-uri=${scene.url}${before}`)
  t.equal(stale.exitCode, 0, 'a clone with an outdated bundle URI succeeds')
  t.match(stale.errorText, /warning: failed to (?:download|fetch)/)
  t.equal(bundleAnswers(scene).at(-1), 404)
  const fresh = await clone(address)
  t.equal(bundleAnswers(scene).at(-1), 200)
  t.equal(await git(['rev-parse', 'origin/main'], { cwd: fresh.path }), tip)
  t.notMatch(await git(['for-each-ref'], { cwd: fresh.path }), 'branch-2')
})

t.test('an interrupted download of a bundle can be resumed', async (t) => {
  const { port, url } = scene
  const bundle = `${url}${await untilOffered({ port, path: LIBRARY })}`
  const { bytes } = await untilCached(bundle)
  const folder = await temporaryFolder(t)
  const file = join(folder, 'all.bundle')
  const run = (script: string) =>
    runToEnd('sh', ['-c', script, 'sh', bundle, file], {
      cwd: folder,
      timeoutMs: 120_000,
      outputBytesMax: 65_536,
      environment: { PATH: process.env['PATH'] ?? '/usr/bin:/bin' },
    })
  await run('curl --silent "$1" | head -c 1000000 > "$2"')
  t.equal((await stat(file)).size, 1_000_000)
  t.match(await run('curl --silent --fail --continue-at - --output "$2" "$1"'), { exitCode: 0 })
  t.ok((await readFile(file)).equals(bytes))
  await git(['clone', '--quiet', file, 'clone'], { cwd: folder })
  t.equal(await git(FSCK, { cwd: join(folder, 'clone') }), '')
})

t.test('the bundle of a private repository needs read permission', async (t) => {
  const { port, url, ada, remote, clone } = scene
  await scene.as('ada', 'PATCH', '/repos/ada/library', { private: true })
  const { plain, token } = await scene.addToken(ada, 'read:repository')
  const authorization = withToken(plain)
  const path = await untilOffered({ port, path: LIBRARY, authorization })
  const before = bundleAnswers(scene).length
  const bundled = await clone(remote)
  t.equal(bundled.exitCode, 0, bundled.errorText.slice(-2_000))
  t.strictSame(
    bundleAnswers(scene).slice(before),
    [401, 200],
    'the bundle is requested with the credentials of the URL',
  )

  const statusOf = async (headers: Record<string, string>) => {
    const reply = await fetch(`${url}${path}`, { headers })
    await reply.arrayBuffer()
    return reply.status
  }
  t.equal(await statusOf({}), 401)
  t.equal(await statusOf({ authorization }), 200)
  const bob = await scene.addToken(scene.bob, 'all')
  t.equal(await statusOf({ authorization: withToken(bob.plain) }), 404)
  await deleteToken(scene.db, ada.id, token.id)
  t.equal(await statusOf({ authorization }), 401, 'a deleted token is refused at the next request')
})

/** Lists branches and tags, without the refs that git keeps for a bundle. */
async function referencesOf(path: string): Promise<string> {
  return git(['for-each-ref', 'refs/heads', 'refs/remotes', 'refs/tags'], { cwd: path })
}
