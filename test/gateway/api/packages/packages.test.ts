/** Packages over the API: listed, read, deleted and linked, of any format. */

import t, { type Test } from 'tap'
import type { DatabaseLocation } from '../../../../conf/database-location.js'
import { findRepository } from '../../../../sql/repositories/repositories.js'
import { onOneDatabase } from '../../../helpers/databases.js'
import { isExpected } from '../../../helpers/expected.js'
import { BASE_URL } from '../../../helpers/gateway.js'
import {
  type Name,
  refusal,
  startGatewayWithUsers,
  visible,
} from '../../../helpers/gateway-with-users.js'
import { aPublication } from '../../../helpers/package-rows.js'
import { type Answer, withToken } from '../../../helpers/requests.js'
import { aCollaborator, aTeam } from '../../../helpers/rows.js'

const HIDDEN = { status: 404, json: refusal('not found') }
const NO_PACKAGE = { status: 404, json: refusal('package does not exist') }
const TOOL = '/packages/ada/generic/tool'

interface Listed {
  readonly id: number
  readonly type: string
  readonly name: string
  readonly version: string
  readonly creator: { readonly login: string }
  readonly repository: { readonly full_name: string } | null
}

/** Starts a gateway with functions that publish and list packages. */
async function openGateway(t: Test, location: DatabaseLocation) {
  const gateway = await startGatewayWithUsers(t, { location })
  /** Publishes below `/api/packages`. */
  const publish = async (name: Name, path: string, text = path) => {
    const authorization = gateway.authorizationOf(name)
    const body = Buffer.from(text)
    const question = { method: 'PUT', path: `/api/packages/${path}`, body, authorization }
    t.equal((await gateway.ask(question)).status, 201, path)
  }
  const namesOf = ({ json }: Answer) =>
    (json as Listed[]).map(({ name, version }) => `${name} ${version}`).join()
  return { ...gateway, publish, namesOf }
}

await onOneDatabase(t, 'a version is read with its files', async (t, location) => {
  const { as, publish } = await openGateway(t, location)
  await publish('ada', 'ada/generic/Report-Tool/2025.06%2FRC%201/Data+1.bin', 'data')
  await publish('root', 'ada/generic/report-tool/2025.06%2Frc%201/empty', '')
  const read = await as('bob', 'GET', '/packages/ADA/generic/report-TOOL/2025.06%2Frc%201')
  t.equal(read.status, 200)
  isExpected(t, read.json, 'api/package')
  const files = await as('bob', 'GET', '/packages/ada/generic/Report-Tool/2025.06%2FRC%201/files')
  t.equal(files.status, 200)
  isExpected(t, files.json, 'api/package-files')
  for (const path of [
    '/generic/report-tool/2025.06',
    '/generic/report-tool/2025.06/files',
    '/generic/absent/1.0',
    '/generic/absent/1.0/files',
    '/generic/absent/-/latest',
    '/go/report-tool/2025.06%2FRC%201',
    '/dummy/report-tool/2025.06%2FRC%201',
    '/dummy/report-tool',
    '/Generic/report-tool',
    '/dummy/report-tool/-/latest',
    '/generic/report-too_/2025.06%2FRC%201',
    '/generic/%00/%00',
    '/generic/%25/%25',
    `/generic/${'n'.repeat(300)}/1.0`,
  ]) {
    t.match(await as('ada', 'GET', `/packages/ada${path}`), NO_PACKAGE, path)
  }
})

await onOneDatabase(
  t,
  'a version called - is named by its percent-encoding',
  async (t, location) => {
    const { as, publish } = await openGateway(t, location)
    await publish('ada', 'ada/generic/tool/-/f')
    t.match(await as('ada', 'GET', `${TOOL}/%2D`), { status: 200, json: { version: '-' } })
    t.equal((await as('ada', 'GET', `${TOOL}/%2D/files`)).status, 200)
    t.match(await as('ada', 'GET', `${TOOL}/-/latest`), { status: 200, json: { version: '-' } })
  },
)

await onOneDatabase(t, 'all versions of an owner are listed by page', async (t, location) => {
  const { as, publish, namesOf, db, ada, bob } = await openGateway(t, location)
  for (const path of ['a_b/1', 'axb/1', 'A_B/2']) await publish('ada', `ada/generic/${path}/f`)
  await publish('bob', 'bob/generic/other/1/f')
  const lib = { ownerId: ada.id, format: 'composer', packageName: 'Acme/Lib', creatorId: bob.id }
  await aPublication(db, lib)
  const list = (query: string) => as('bob', 'GET', `/packages/ada${query}`)
  const all = await list('')
  t.equal(namesOf(all), 'Acme/Lib 1.0,a_b 2,axb 1,a_b 1', 'newest first')
  t.match(all.headers, { 'x-total-count': '4', link: undefined })
  const [newest] = all.json as Listed[]
  t.strictSame((await as('bob', 'GET', '/packages/ada/composer/acme%2Flib/1.0')).json, newest)
  t.match(newest, {
    type: 'composer',
    creator: { login: 'bob' },
    owner: { login: 'ada' },
    html_url: `${BASE_URL}/ada/-/packages/composer/Acme%2FLib/1.0`,
  })
  for (const [query, names] of [
    ['?type=', 'Acme/Lib 1.0,a_b 2,axb 1,a_b 1'] as const,
    ['?type=go', ''] as const,
    ['?type=composer', 'Acme/Lib 1.0'] as const,
    ['?type=dummy', ''] as const,
    ['?type=all&q=A_', 'a_b 2,a_b 1'] as const,
    ['?q=%25', ''] as const,
    ['?q=e%2Fl', 'Acme/Lib 1.0'] as const,
    ['?q=', namesOf(all)] as const,
    ['?q=x&type=composer', ''] as const,
    ['?limit=2&page=3', ''] as const,
    ["?q='%22%5C%00", ''] as const,
  ]) {
    t.equal(namesOf(await list(query)), names, query)
  }
  const second = await list('?q=a_b&page=2&type=generic&limit=1')
  t.equal(namesOf(second), 'a_b 1')
  const link = (page: number) =>
    `<${BASE_URL}/api/v1/packages/ada?type=generic&q=a_b&limit=1&page=${page}>`
  t.match(second.headers, {
    'x-total-count': '2',
    link: `${link(1)}; rel="first",${link(1)}; rel="prev"`,
  })
})

await onOneDatabase(
  t,
  'versions of a package are listed, and the latest is found',
  async (t, location) => {
    const { as, publish, namesOf, db, ada } = await openGateway(t, location)
    for (const version of ['1.0', '3.0', '2.0'])
      await publish('ada', `ada/generic/tool/${version}/f`)
    await publish('ada', 'ada/generic/tools/9/f')
    await publish('ada', 'ada/generic/tool/1.0/g')
    const versions = await as('bob', 'GET', '/packages/ada/generic/TOOL?limit=2')
    t.equal(namesOf(versions), 'tool 2.0,tool 3.0')
    t.match(versions.headers, { 'x-total-count': '3', link: /tool\?limit=2&page=2>; rel="next"/i })
    t.match(await as('bob', 'GET', `${TOOL}/-/latest`), { json: { version: '2.0' } })
    const none = await as('bob', 'GET', '/packages/ada/generic/absent')
    t.match(none, { status: 200, json: [], headers: { 'x-total-count': '0' } })
    const lib = { ownerId: ada.id, format: 'composer', packageName: 'acme/lib' }
    for (const version of ['1.0', '1.1']) await aPublication(db, { ...lib, version })
    const first = await as('bob', 'GET', '/packages/ada/composer/Acme%2FLib?limit=1')
    t.match(first.headers.link, /composer\/Acme%2FLib\?limit=1&page=2>; rel="next"/)
  },
)

await onOneDatabase(t, 'a version and a whole package are deleted', async (t, location) => {
  const { as, ask, publish, namesOf, addUser } = await openGateway(t, location)
  await addUser('cal')
  for (const version of ['1', '2', '3']) await publish('ada', `ada/generic/tool/${version}/f`)
  await publish('ada', 'ada/generic/other/1/f')
  for (const path of [`${TOOL}/2`, TOOL]) {
    const message = 'You may not change the packages of ada.'
    t.match(await as('bob', 'DELETE', path), { status: 403, json: refusal(message) })
    t.equal((await as('anyone', 'DELETE', path)).status, 401)
  }
  t.match(await as('ada', 'DELETE', `${TOOL}/2`), { status: 204, text: '' })
  t.match(await as('ada', 'DELETE', `${TOOL}/2`), NO_PACKAGE)
  t.match(await as('ada', 'GET', `${TOOL}/2`), NO_PACKAGE)
  t.equal((await ask({ path: '/api/packages/ada/generic/tool/2/f' })).status, 404)
  t.equal(namesOf(await as('ada', 'GET', TOOL)), 'tool 3,tool 1')
  t.match(await as('root', 'DELETE', '/packages/ada/generic/TOOL'), { status: 204, text: '' })
  t.match(await as('ada', 'DELETE', TOOL), NO_PACKAGE)
  t.match(await as('ada', 'DELETE', '/packages/ada/dummy/other'), NO_PACKAGE)
  t.match(await as('ada', 'DELETE', '/packages/ada/go/other/1'), NO_PACKAGE)
  t.equal(namesOf(await as('ada', 'GET', '/packages/ada')), 'other 1')
  await publish('ada', 'ada/generic/tool/2/f', 'other bytes')
  t.equal((await as('ada', 'GET', `${TOOL}/2`)).status, 200, 'and published again')
})

await onOneDatabase(t, 'a package is linked to a repository and unlinked', async (t, location) => {
  const { as, publish, bob, db, ada, addOrganization } = await openGateway(t, location)
  const club = await addOrganization('club', ada)
  await publish('ada', 'ada/generic/tool/1/f')
  await publish('ada', 'club/generic/tool/1/f')
  for (const name of ['engine', 'hidden']) {
    await as('ada', 'POST', '/user/repos', { name, private: name === 'hidden' })
    await as('ada', 'POST', '/orgs/club/repos', { name, private: name === 'hidden' })
  }
  await as('bob', 'POST', '/user/repos', { name: 'foreign' })
  const link = (who: Name, owner: string, rest: string) =>
    as(who, 'POST', `/packages/${owner}/generic/${rest}`)
  t.match(await link('ada', 'ada', 'TOOL/-/link/Engine'), { status: 201, text: '' })
  const linked = await as('bob', 'GET', `${TOOL}/1`)
  const repository = await as('bob', 'GET', '/repos/ada/engine')
  t.strictSame(
    (linked.json as Listed).repository,
    repository.json,
    "the same object as at the repository's own address",
  )
  const already = refusal('The package is linked to a repository already.')
  for (const repo of ['engine', 'hidden']) {
    t.match(await link('ada', 'ada', `tool/-/link/${repo}`), { status: 400, json: already })
  }
  t.match(await link('ada', 'ada', 'tool/-/unlink'), { status: 204, text: '' })
  t.match((await as('ada', 'GET', `${TOOL}/1`)).json, { repository: null })
  const unlinked = refusal('The package is linked to no repository.')
  t.match(await link('ada', 'ada', 'tool/-/unlink'), { status: 400, json: unlinked })
  t.match(await link('ada', 'ada', 'absent/-/link/engine'), NO_PACKAGE)
  t.match(await link('ada', 'ada', 'absent/-/unlink'), NO_PACKAGE)
  for (const repo of ['absent', 'foreign', '%00']) {
    t.match(await link('ada', 'ada', `tool/-/link/${repo}`), HIDDEN, repo)
  }

  t.equal((await link('bob', 'club', 'tool/-/link/engine')).status, 403, 'the body is empty')
  t.equal((await link('anyone', 'club', 'tool/-/link/engine')).status, 401)
  const inputs = { organizationId: club.id, memberIds: [bob.id] }
  await aTeam(db, { ...inputs, permission: 'write' })
  const message = 'user should have a permission to write to a repo'
  const forbidden = await link('bob', 'club', 'tool/-/link/engine')
  t.match(
    forbidden,
    { status: 403, json: refusal(message) },
    'with read permission on the repository',
  )
  const unseen = await link('bob', 'club', 'tool/-/link/hidden')
  t.strictSame(visible(unseen), visible(await link('bob', 'club', 'tool/-/link/absent')))
  t.match(unseen, HIDDEN)
  t.equal((await link('ada', 'club', 'tool/-/link/hidden')).status, 201)
  t.equal(
    (await link('bob', 'club', 'tool/-/unlink')).status,
    204,
    'although the repository is hidden',
  )
  await aTeam(db, { ...inputs, permission: 'write', includesAll: true })
  t.equal((await link('bob', 'club', 'tool/-/link/hidden')).status, 201)
})

await onOneDatabase(
  t,
  'a package is linked to a repository at its new address after a transfer',
  async (t, location) => {
    const { as, publish, db, ada, bob } = await openGateway(t, location)
    await publish('ada', 'ada/generic/tool/1/f')
    await as('ada', 'POST', '/user/repos', { name: 'engine' })
    await as('ada', 'PATCH', '/repos/ada/engine', { name: 'motor' })
    const link = `${TOOL}/-/link/engine`
    t.equal((await as('ada', 'POST', link)).status, 201)
    const linked = { json: { repository: { full_name: 'ada/motor' } } }
    t.match(await as('ada', 'GET', `${TOOL}/1`), linked)
    t.equal((await as('ada', 'POST', `${TOOL}/-/unlink`)).status, 204)
    const motor = await findRepository(db, 'ada', 'motor')
    if (motor === undefined) throw new Error('the repository was not made')
    await db('repositories').update({ owner_id: bob.id })
    await aCollaborator(db, motor, ada, 'write')
    const message = 'The repository does not belong to the owner of the package.'
    t.match(await as('ada', 'POST', link), { status: 403, json: refusal(message) })
  },
)

await onOneDatabase(
  t,
  'a hidden repository is not shown with its packages',
  async (t, location) => {
    const { as, ask, publish, ada, addToken } = await openGateway(t, location)
    await publish('ada', 'ada/generic/tool/1/f')
    await publish('ada', 'ada/generic/tool/2/f')
    await publish('ada', 'ada/generic/open/1/f')
    for (const [name, packageName] of [['hidden', 'tool'] as const, ['engine', 'open'] as const]) {
      await as('ada', 'POST', '/user/repos', { name, private: name === 'hidden' })
      const path = `/packages/ada/generic/${packageName}/-/link/${name}`
      t.equal((await as('ada', 'POST', path)).status, 201)
    }
    const repositoriesOf = ({ json }: Answer) =>
      (json as Listed[]).map(({ repository }) => repository?.full_name ?? null)
    const path = '/packages/ada'
    const all = ['ada/engine', 'ada/hidden', 'ada/hidden']
    const open = ['ada/engine', null, null]
    t.strictSame(repositoriesOf(await as('ada', 'GET', path)), all)
    t.strictSame(repositoriesOf(await as('root', 'GET', path)), all)
    t.strictSame(repositoriesOf(await as('bob', 'GET', path)), open)
    t.match(await as('bob', 'GET', `${TOOL}/-/latest`), { json: { repository: null } })
    const { plain } = await addToken(ada, 'public-only', 'write:package')
    const asPublic = (method: string, path: string) =>
      ask({ method, path: `/api/v1${path}`, authorization: withToken(plain) })
    t.strictSame(
      repositoriesOf(await asPublic('GET', path)),
      open,
      'nor to a token limited to public objects',
    )
    const scoped = async (...scopes: readonly string[]) => {
      const authorization = withToken((await addToken(ada, ...scopes)).plain)
      return repositoriesOf(await ask({ path: `/api/v1${path}`, authorization }))
    }
    t.strictSame(await scoped('write:package', 'write:issue'), open, 'nor without its scope')
    t.strictSame(await scoped('read:package', 'read:repository'), all, 'but with its scope')
    await as('ada', 'POST', `${TOOL}/-/unlink`)
    t.equal((await asPublic('POST', `${TOOL}/-/link/hidden`)).status, 403)
    await as('ada', 'DELETE', '/repos/ada/engine')
    t.strictSame(
      repositoriesOf(await as('ada', 'GET', path)),
      [null, null, null],
      'nor if the repository is deleted',
    )
  },
)

await onOneDatabase(t, 'a hidden owner is reported as missing', async (t, location) => {
  const { as, publish, db, ada, addOrganization } = await openGateway(t, location)
  await addOrganization('club', ada, 'private')
  await publish('ada', 'ada/generic/tool/1/f')
  await publish('ada', 'club/generic/tool/1/f')
  await db('owners').where({ id: ada.id }).update({ visibility: 'private' })
  const asks = [
    ['GET', ''] as const,
    ['GET', '/generic/tool'] as const,
    ['GET', '/generic/tool/1'] as const,
    ['GET', '/generic/tool/1/files'] as const,
    ['GET', '/generic/tool/-/latest'] as const,
    ['DELETE', '/generic/tool/1'] as const,
    ['DELETE', '/generic/tool'] as const,
    ['POST', '/generic/tool/-/unlink'] as const,
    ['POST', '/generic/tool/-/link/x'] as const,
  ]
  for (const [method, rest] of asks) {
    const absent = await as('bob', method, `/packages/absent${rest}`)
    t.match(absent, HIDDEN)
    for (const owner of ['ada', 'club']) {
      const path = `/packages/${owner}${rest}`
      t.strictSame(visible(await as('bob', method, path)), visible(absent), `${method} ${path}`)
      const anonymous = await as('anyone', method, path)
      t.equal(anonymous.status, 401)
      t.strictSame(
        visible(anonymous),
        visible(await as('anyone', method, `/packages/absent${rest}`)),
      )
      if (method === 'GET') t.equal((await as('ada', method, path)).status, 200, path)
    }
  }
})

t.test('with registries disabled packages are 404 in the API', async (t) => {
  const gateway = await startGatewayWithUsers(t, {
    environment: { GATEHOUSE_PACKAGES_ENABLED: 'false' },
  })
  await gateway.as('ada', 'POST', '/user/repos', { name: 'r' })
  const nothing = await gateway.as('ada', 'GET', '/nothing')
  for (const path of ['/packages/ada', `${TOOL}/1`, `${TOOL}/1/files`]) {
    t.strictSame(visible(await gateway.as('ada', 'GET', path)), visible(nothing), path)
  }
  t.match(await gateway.as('ada', 'DELETE', TOOL), { status: 404, json: refusal('not found') })
  const { text } = await gateway.ask({ path: '/swagger.v1.json' })
  t.notMatch(text, /packages\/|deletePackage|PackageFile/)
  const input = { has_packages: true }
  t.match(await gateway.as('ada', 'PATCH', '/repos/ada/r', input), {
    json: { has_packages: false },
  })
})
