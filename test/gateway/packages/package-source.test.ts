/** The source of a package is shown to callers who can clone its repository, and to no others. */

import t, { type Test } from 'tap'
import { packageZip } from '../../helpers/composer-packages.js'
import {
  type GatewayWithRepository,
  startGatewayWithRepository,
} from '../../helpers/gateway-with-repository.js'
import { type Name, visible } from '../../helpers/gateway-with-users.js'
import { withToken } from '../../helpers/requests.js'

const BASE = '/api/packages/ada/composer'
const LINK = '/packages/ada/composer/acme%2Flib/-'

/** Starts a gateway with versions 1 (which has a tag) and 2 of a package. */
async function start(t: Test) {
  const gateway = await startGatewayWithRepository(t)
  const authorization = gateway.authorizationOf('ada')
  for (const version of ['1', '2']) {
    const body = packageZip({ name: 'acme/lib', version })
    await gateway.ask({ method: 'PUT', path: BASE, body, authorization })
  }
  return gateway
}

async function sourcesFor(
  gateway: GatewayWithRepository,
  authorization: string | undefined,
): Promise<Readonly<Record<string, unknown>>> {
  const { json } = await gateway.ask({ path: `${BASE}/p2/acme/lib.json`, authorization })
  const { packages } = json as { packages: { 'acme/lib': Record<string, string>[] } }
  return Object.fromEntries(
    packages['acme/lib'].map(({ version, source }) => [version, source ?? null]),
  )
}

t.test('a version has the commit of its annotated tag, as long as the tag exists', async (t) => {
  const gateway = await start(t)
  const { as, copy, commits, folder, settings } = gateway
  t.strictSame(await sourcesFor(gateway, undefined), { 1: null, 2: null })
  t.equal((await as('ada', 'POST', `${LINK}/link/r`)).status, 201)
  const url = `${settings.http.baseUrl}/ada/r.git`
  const first = { type: 'git', url, reference: commits[0] }
  t.strictSame(await sourcesFor(gateway, undefined), { 1: first, 2: null })
  t.strictSame(await sourcesFor(gateway, undefined), { 1: first, 2: null }, 'from the cache')
  await copy.git('push', '--quiet', folder, `${commits[2]}:refs/tags/2`)
  const second = { ...first, reference: commits[2] }
  t.strictSame(await sourcesFor(gateway, undefined), { 1: first, 2: second })
  await copy.git('push', '--quiet', folder, ':refs/tags/v1')
  t.strictSame(await sourcesFor(gateway, undefined), { 1: null, 2: second })
  await copy.git('push', '--quiet', folder, `${commits[0]}^{tree}:refs/tags/v1`)
  t.strictSame(await sourcesFor(gateway, undefined), { 1: null, 2: second }, 'a tag of a tree')
  await as('ada', 'PATCH', '/repos/ada/r', { name: 'renamed' })
  const renamed = { ...second, url: url.replace('/r.git', '/renamed.git') }
  t.strictSame(await sourcesFor(gateway, undefined), { 1: null, 2: renamed })
  t.equal((await as('ada', 'POST', `${LINK}/unlink`)).status, 204)
  t.strictSame(await sourcesFor(gateway, undefined), { 1: null, 2: null })
})

t.test(
  'without access to the repository, the reply is that of a package without link',
  async (t) => {
    const gateway = await start(t)
    const { as, ada, bob } = gateway
    const read = async (name: Name, document: string) =>
      visible(
        await gateway.ask({
          path: `${BASE}/p2/acme/${document}`,
          authorization: gateway.authorizationOf(name),
        }),
      )
    await as('ada', 'PATCH', '/repos/ada/r', { private: true })
    // A date is sent only after the second of the last change.
    await gateway.db('packages').update({ changed_at: Date.now() - 60_000 })
    const unlinked = await read('anyone', 'lib.json')
    const unlinkedDev = await read('anyone', 'lib~dev.json')
    t.ok(unlinked.headers['last-modified'])
    t.equal((await as('ada', 'POST', `${LINK}/link/r`)).status, 201)
    t.match(await sourcesFor(gateway, gateway.authorizationOf('ada')), { 1: { type: 'git' } })
    for (const name of ['anyone', 'bob'] as const) {
      t.strictSame(await read(name, 'lib.json'), unlinked, name)
      t.strictSame(await read(name, 'lib~dev.json'), unlinkedDev, name)
    }
    await as('ada', 'PUT', '/repos/ada/r/collaborators/bob', { permission: 'read' })
    t.match(await sourcesFor(gateway, gateway.authorizationOf('bob')), { 1: { type: 'git' } })
    t.strictSame(await read('anyone', 'lib.json'), unlinked)
    const tokens = {
      'a token for packages alone': await gateway.addToken(ada, 'read:package'),
      'a token for public data': await gateway.addToken(ada, 'all', 'public-only'),
      'a token limited to packages': await gateway.addLimitedToken(
        ada,
        { reach: { repositoryIds: [], packages: [{ ownerId: ada.id, named: undefined }] } },
        'all',
      ),
    }
    const hidden = { 1: null, 2: null }
    for (const [name, { plain }] of Object.entries(tokens)) {
      t.strictSame(await sourcesFor(gateway, withToken(plain)), hidden, name)
    }
    const both = await gateway.addToken(bob, 'read:package', 'read:repository')
    t.match(await sourcesFor(gateway, withToken(both.plain)), { 1: { type: 'git' } })
    await as('ada', 'DELETE', '/repos/ada/r/collaborators/bob')
    t.strictSame(await read('bob', 'lib.json'), unlinked, 'after the access was removed')
    await as('ada', 'PATCH', '/repos/ada/r', { private: false })
    for (const [name, { plain }] of Object.entries(tokens)) {
      const sources = await sourcesFor(gateway, withToken(plain))
      t.match(sources, { 1: { type: 'git' } }, `${name}, of a public repository`)
    }
  },
)

t.test('an error of the database is not answered by a document without a source', async (t) => {
  const gateway = await start(t)
  await gateway.as('ada', 'POST', `${LINK}/link/r`)
  await gateway.db.schema.renameTable('collaborators', 'away')
  const authorization = gateway.authorizationOf('bob')
  const { status } = await gateway.ask({ path: `${BASE}/p2/acme/lib.json`, authorization })
  await gateway.db.schema.renameTable('away', 'collaborators')
  t.ok(status >= 500, `${status}`)
})
