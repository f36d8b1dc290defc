/** Pages of packages: what is published is seen by whom it is for, with what installs it. */

import t from 'tap'
import { installInstructions } from '../../../gateway/web/install-commands.js'
import { startGateway } from '../../helpers/gateway.js'
import { withToken } from '../../helpers/requests.js'

t.test('each format is installed in the words of its own client', async (t) => {
  const baseUrl = 'http://x'
  const textOf = (
    format: Parameters<typeof installInstructions>[0],
    packageName: string,
    file: { readonly name: string; readonly compositeKey: string },
  ) =>
    installInstructions(format, {
      ...{ baseUrl, owner: 'ada', packageName, version: '1.0', files: [file] },
    })
      .map(({ text }) => text)
      .join('\n')
  const registry = `${baseUrl}/api/packages/ada`
  const plain = { name: 'f', compositeKey: '' }
  const apk = textOf('alpine', 'hello', { name: 'f', compositeKey: 'v3.20|main|x86_64' })
  t.match(apk, `echo ${registry}/alpine/v3.20/main >> /etc/apk/repositories\n`)
  t.match(apk, /apk add hello=1\.0$/)
  const deb = textOf('debian', 'hello', { name: 'f', compositeKey: 'bookworm|main' })
  t.match(deb, `] ${registry}/debian bookworm main' > /etc/apt/sources.list.d/`)
  t.match(deb, /apt-get install hello=1\.0$/)
  t.match(textOf('composer', 'a/b', plain), `gatehouse composer ${registry}/composer\n`)
  t.match(textOf('composer', 'a/b', plain), /composer require a\/b:1\.0$/)
  t.match(textOf('cran', 'toy', plain), `install.packages("toy", repos = c("${registry}/cran"`)
  t.match(textOf('go', 'example.com/m', plain), /go get example\.com\/m@1\.0$/)
  t.match(textOf('swift', 'acme.Hello', plain), '.package(id: "acme.Hello", from: "1.0")')
  t.equal(
    textOf('generic', 'tool', { name: "it's $(x)", compositeKey: '' }),
    `curl -fO '${registry}/generic/tool/1.0/it'\\''s%20%24(x)'`,
  )
})

t.test('what an owner published is listed for whom it is for', async (t) => {
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
    ...['/hidden/-/packages', '/hidden/-/packages/generic/tool/1.0', '/nobody/-/packages'],
    ...['/ada/-/packages/generic/tool/2.0', '/ada/-/packages/generic/none/1.0'],
    '/ada/-/packages/nothing/tool/1.0',
  ]) {
    t.equal((await ask({ path })).status, 404, path)
  }
})

t.test('where there are no registries, there is no tab, and no page', async (t) => {
  const environment = { GATEHOUSE_PACKAGES_ENABLED: 'false' }
  const { addUser, ask } = await startGateway(t, { environment })
  await addUser('ada')
  t.notMatch((await ask({ path: '/ada' })).text, /packages/i)
  t.equal((await ask({ path: '/ada/-/packages' })).status, 404)
})
