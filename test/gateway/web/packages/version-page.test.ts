/** Page of a package version: description, files, the linked repository and deletion. */

import t from 'tap'
import { linkPackage } from '../../../../sql/packages/package-links.js'
import { findRepository } from '../../../../sql/repositories/repositories.js'
import { packageZip } from '../../../helpers/composer-packages.js'
import { moduleZip } from '../../../helpers/modules.js'
import { aPublication, namespaceOf } from '../../../helpers/package-rows.js'
import { rTarGz } from '../../../helpers/r-packages.js'
import { withToken } from '../../../helpers/requests.js'
import { sourceArchive, swiftForm } from '../../../helpers/swift.js'
import { startWebGateway } from '../../../helpers/visitors.js'

const VERSION = '/ada/-/packages/generic/tool/1.0'

async function startWithPackage(t: Parameters<typeof startWebGateway>[0]) {
  const gateway = await startWebGateway(t)
  const ada = await gateway.addUser('ada')
  await gateway.addUser('bob')
  const authorization = withToken((await gateway.addToken(ada, 'all')).plain)
  const put = { method: 'PUT', path: '/api/packages/ada/generic/tool/1.0/tool.txt', authorization }
  await gateway.ask({ ...put, body: Buffer.from('the bytes') })
  const api = (method: string, path: string, body?: unknown) =>
    gateway.ask({ method, path: `/api/v1${path}`, body, authorization })
  return { ...gateway, ada, api }
}

t.test('the page has installation, files and digests, and a file can be downloaded', async (t) => {
  const { ask, db } = await startWithPackage(t)
  const { text } = await ask({ path: VERSION })
  t.match(text, /curl -fO http:\/\/code\.example\.com\/api\/packages\/ada\/generic\/tool/)
  t.match(text, /[0-9a-f]{64}/)
  const [, path = ''] = /href="[^"]*(\/ada\/-\/packages[^"]*\/files\/\d+)"/.exec(text) ?? []
  const file = await ask({ path })
  t.equal(file.text, 'the bytes')
  t.match(file.headers['content-disposition'], /^attachment; filename="?tool\.txt/)
  t.equal(file.headers['content-type'], 'application/octet-stream')

  const { id: ownerId } = await db('users').join('owners', 'owners.id', 'owner_id').first('id')
  await aPublication(db, { ownerId, packageName: 'other', text: 'other' })
  const other = await db('package_files').max({ id: 'id' }).first()
  for (const path of [
    `${VERSION}/files/${other?.['id']}`,
    `${VERSION}/files/x`,
    '/ada/-/packages/generic/tool/2.0',
    '/ada/-/packages/generic/none/1.0',
    '/ada/-/packages/nothing/tool/1.0',
  ]) {
    t.equal((await ask({ path })).status, 404, path)
  }
})

t.test('a version is described by the metadata of its index entries', async (t) => {
  const { ask, db, ada } = await startWithPackage(t)
  const control = [
    ['Description', 'greets\n everyone'],
    ['Depends', 'libc6 (>= 2.36)'],
    ['Homepage', 'javascript:alert(1)'],
  ]
  await aPublication(db, {
    ownerId: ada.id,
    format: 'debian',
    packageName: 'hello',
    compositeKey: 'bookworm|main',
    indexes: [{ subject: 'bookworm', part: 'main|amd64', metadata: { fields: control } }],
  })
  const { text } = await ask({ path: '/ada/-/packages/debian/hello/1.0' })
  t.match(text, /<p>greets<\/p>/)
  t.match(text, /Depends<\/dt><dd><code>libc6 \(>= 2\.36\)</)
  t.match(text, 'javascript:alert(1)')
  t.notMatch(text, /href="javascript/)
})

t.test('a version has the README of its archive, and no scripts of it', async (t) => {
  const { ask, ada, addToken } = await startWithPackage(t)
  const authorization = withToken((await addToken(ada, 'all')).plain)
  const text = '# About\n\n![logo](logo.png)\n\n<script>alert(1)</script>\n'
  const files = { 'README.md': text }
  const archive = await sourceArchive(files)
  const form = swiftForm('/swift/acme/hello/1.0.0', [['source-archive', archive]])
  const composerJson = { name: 'acme/lib', version: '1.0.0' }
  const uploads = [
    { path: '/composer', body: packageZip(composerJson, { files }), page: 'acme%2Flib/1.0.0' },
    {
      path: '/go/upload',
      body: await moduleZip('example.org/m@v1.0.0', files),
      page: 'example.org%2Fm/v1.0.0',
    },
    {
      path: '/cran/src',
      body: rTarGz({ Package: 'toy', Version: '1.0' }, { files }),
      page: 'toy/1.0',
    },
    { ...form, page: 'acme.hello/1.0.0' },
  ]
  for (const { path, page, ...more } of uploads) {
    const put = { method: 'PUT', path: `/api/packages/ada${path}`, authorization, ...more }
    t.equal((await ask(put)).status, 201, path)
    const [, format] = path.split('/')
    const shown = await ask({ path: `/ada/-/packages/${format}/${page}` })
    t.match(shown.text, /<h3>README<\/h3><div class="markdown"><h4>About<\/h4>/, path)
    t.match(shown.text, '<span>logo</span>', path)
    t.notMatch(shown.text, 'alert(1)', path)
  }
  t.notMatch((await ask({ path: VERSION })).text, 'README')
})

t.test('a link to a repository is shown to visitors who can read the repository', async (t) => {
  const { ask, api, db, ada, signIn } = await startWithPackage(t)
  await api('POST', '/user/repos', { name: 'secret', private: true })
  const repository = await findRepository(db, 'ada', 'secret')
  const repositoryId = repository?.id ?? 0
  await linkPackage(db, namespaceOf(ada.id), { packageName: 'tool', repositoryId })
  const own = await signIn('ada')
  t.match((await own.get(VERSION)).text, /href="[^"]*\/ada\/secret"/)
  t.match((await own.get('/ada/secret/packages')).text, `${VERSION}"`)
  for (const { text } of [await ask({ path: VERSION }), await (await signIn('bob')).get(VERSION)]) {
    t.notMatch(text, 'secret')
  }
})

t.test('users who can write link, unlink and delete a version', async (t) => {
  const { ask, api, signIn } = await startWithPackage(t)
  await api('POST', '/user/repos', { name: 'engine' })
  await api('POST', '/user/repos', { name: 'other' })
  const [own, foreign] = [await signIn('ada'), await signIn('bob')]
  t.match((await own.get(VERSION)).text, 'Delete this version')
  t.notMatch((await foreign.get(VERSION)).text, 'Delete this version')

  const missing = await own.post(`${VERSION}/-/link`, { repository: 'none' })
  t.equal(missing.status, 404)
  t.equal((await own.post(`${VERSION}/-/link`, { repository: 'engine' })).status, 303)
  t.match((await ask({ path: VERSION })).text, /href="[^"]*\/ada\/engine"/)
  t.match((await ask({ path: '/ada/engine/packages' })).text, `${VERSION}"`)
  t.match((await ask({ path: '/ada/other/packages' })).text, 'no packages yet')
  const again = await own.post(`${VERSION}/-/link`, { repository: 'engine' })
  t.equal(again.status, 400)
  t.match(again.text, 'linked to a repository already')
  t.equal((await own.post(`${VERSION}/-/unlink`, {})).status, 303)
  t.match((await ask({ path: '/ada/engine/packages' })).text, 'no packages yet')

  const unconfirmed = await own.post(`${VERSION}/-/delete`, { confirm: 'tool' })
  t.equal(unconfirmed.status, 422)
  t.equal((await ask({ path: VERSION })).status, 200)
  for (const action of ['link', 'unlink', 'delete']) {
    const fields = { confirm: 'tool 1.0', repository: 'engine' }
    t.equal((await foreign.post(`${VERSION}/-/${action}`, fields)).status, 403, action)
  }
  t.equal((await own.post(`${VERSION}/-/delete`, { confirm: 'tool 1.0' })).status, 303)
  t.equal((await ask({ path: VERSION })).status, 404)
})

t.test(
  'packages of a private organization are marked, and hidden from collaborators',
  async (t) => {
    const { addOrganization, ada, api, ask, addUser, db, signIn } = await startWithPackage(t)
    const hidden = await addOrganization('hidden', ada, 'private')
    const carl = await addUser('carl')
    await api('POST', '/orgs/hidden/repos', { name: 'engine', private: true })
    await api('PUT', `/repos/hidden/engine/collaborators/${carl.name}`, { permission: 'read' })
    await aPublication(db, { ownerId: hidden.id, creatorId: ada.id, text: 'hidden' })
    const repository = await findRepository(db, 'hidden', 'engine')
    const link = { packageName: 'tool', repositoryId: repository?.id ?? 0 }
    await linkPackage(db, namespaceOf(hidden.id), link)
    const own = await signIn('ada')
    t.match((await own.get('/hidden/-/packages/generic/tool')).text, /label">private</)
    t.match((await own.get('/hidden/engine/packages')).text, 'generic/tool/1.0"')
    const guest = await signIn('carl')
    t.match((await guest.get('/hidden/engine/packages')).text, 'no packages yet')
    t.equal((await ask({ path: '/hidden/engine/packages' })).status, 404)
  },
)
