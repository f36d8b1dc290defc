/** Pages of packages: visibility, and installation instructions. */

import t from 'tap'
import { startGateway } from '../../../helpers/gateway.js'
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
  t.match(list.text, /\/ada\/-\/packages\/generic\/tool\/1\.0"/)
  const one = await ask({ path: '/ada/-/packages/generic/tool/1.0' })
  t.match(one.text, /curl -fO http:\/\/code\.example\.com\/api\/packages\/ada\/generic\/tool/)
  t.match(one.text, /[0-9a-f]{64}/)
  for (const path of [
    '/hidden/-/packages',
    '/hidden/-/packages/generic/tool/1.0',
    '/nobody/-/packages',
    '/ada/-/packages/generic/tool/2.0',
    '/ada/-/packages/generic/none/1.0',
    '/ada/-/packages/nothing/tool/1.0',
  ]) {
    t.equal((await ask({ path })).status, 404, path)
  }
})

t.test('with registries disabled there is neither a tab nor a page', async (t) => {
  const environment = { GATEHOUSE_PACKAGES_ENABLED: 'false' }
  const { addUser, ask } = await startGateway(t, { environment })
  await addUser('ada')
  t.notMatch((await ask({ path: '/ada' })).text, /packages/i)
  t.equal((await ask({ path: '/ada/-/packages' })).status, 404)
})
