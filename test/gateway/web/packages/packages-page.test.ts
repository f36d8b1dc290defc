/** Pages of an owner's packages: visibility, search, versions and downloads. */

import t from 'tap'
import { startGateway } from '../../../helpers/gateway.js'
import { aPublication } from '../../../helpers/package-rows.js'
import { withToken } from '../../../helpers/requests.js'

t.test('packages of an owner are listed for users who may see the owner', async (t) => {
  const { addUser, addOrganization, addToken, ask } = await startGateway(t)
  const ada = await addUser('ada')
  await addOrganization('hidden', ada, 'private')
  const authorization = withToken((await addToken(ada, 'write:package')).plain)
  for (const owner of ['ada', 'hidden']) {
    const path = `/api/packages/${owner}/generic/tool/1.0/tool.txt`
    const put = await ask({ method: 'PUT', path, authorization, body: Buffer.from('tool') })
    t.equal(put.status, 201)
  }
  t.match((await ask({ path: '/ada' })).text, /href="[^"]*\/ada\/-\/packages"/)
  const list = await ask({ path: '/ada/-/packages' })
  t.match(list.text, /\/ada\/-\/packages\/generic\/tool"/)
  t.match(list.text, /\/ada\/-\/packages\/generic\/tool\/1\.0"/)
  for (const path of [
    '/hidden/-/packages',
    '/hidden/-/packages/generic/tool',
    '/nobody/-/packages',
    '/ada/-/packages/generic/none',
    '/ada/-/packages/nothing/tool',
  ]) {
    t.equal((await ask({ path })).status, 404, path)
  }
})

t.test('packages are found by name and format, page by page', async (t) => {
  const { addUser, ask, db } = await startGateway(t)
  const { id: ownerId } = await addUser('ada')
  for (let number = 0; number < 31; number += 1) {
    await aPublication(db, { ownerId, packageName: `tool${number}` })
  }
  await aPublication(db, { ownerId, format: 'go', packageName: 'example.com/tool' })
  const shown = async (query: string) => {
    const { text } = await ask({ path: `/ada/-/packages?${query}` })
    return {
      count: text.match(/<li>/g)?.length ?? 0,
      next: /href="[^"]*\?([^"]*page=2)"/.exec(text)?.[1]?.replaceAll('&amp;', '&'),
    }
  }
  t.match(await shown('q=TOOL'), { count: 30, next: 'q=TOOL&page=2' })
  t.match(await shown('q=tool&page=2'), { count: 2 })
  t.match(await shown('type=go'), { count: 1, next: undefined })
  t.match(await shown('type=go&q=none'), { count: 0 })
  t.match(await shown('type=unknown&q=tool30'), { count: 1 })
})

t.test('the page of a package has its versions and its downloads by day', async (t) => {
  const { addUser, ask, db } = await startGateway(t)
  const { id: ownerId } = await addUser('ada')
  await aPublication(db, { ownerId, version: '1.0' })
  await aPublication(db, { ownerId, version: '1.1-rc 1' })
  const today = Math.floor(Date.now() / 86_400_000)
  const { id } = await db('package_versions').first('id')
  for (const day of [today - 30, today - 1, today]) {
    await db('package_downloads').insert({ version_id: id, day, downloads: 4 })
  }
  const { text } = await ask({ path: '/ada/-/packages/generic/tool' })
  t.match(text, /generic\/tool\/1\.0"[\s\S]*|generic\/tool\/1\.1-rc%201"/)
  t.match(text, '8 downloads in the last 30 days')
  t.equal(text.match(/<rect /g)?.length, 30)
  t.notMatch(text, 'private')
})

t.test('with registries disabled there is neither a tab nor a page', async (t) => {
  const environment = { GATEHOUSE_PACKAGES_ENABLED: 'false' }
  const { addUser, ask } = await startGateway(t, { environment })
  await addUser('ada')
  t.notMatch((await ask({ path: '/ada' })).text, /packages/i)
  t.equal((await ask({ path: '/ada/-/packages' })).status, 404)
})
