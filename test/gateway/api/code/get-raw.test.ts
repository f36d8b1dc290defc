/** Raw files: both forms of the API, the web addresses, and headers that prevent execution. */

import t from 'tap'
import { startGatewayWithRepository } from '../../../helpers/gateway-with-repository.js'
import { incompressible } from '../../../helpers/working-copy.js'

t.test(
  'a raw file is read by path and ref, and in the older form with the ref in the path',
  async (t) => {
    const { get, commits, copy, push } = await startGatewayWithRepository(t)
    const [first] = commits
    const text = async (rest: string) => {
      const { status, text } = await get(rest)
      return status === 200 ? text : status
    }
    const [old, young] = ['# r\n', '# r\n\nmore\n']
    for (const room of ['raw', 'media']) {
      t.equal(await text(`${room}/README.md`), young)
      t.equal(await text(`${room}/README.md?ref=v1`), old)
      t.equal(await text(`${room}/feature/x/README.md`), old)
      t.equal(await text(`${room}/feature%2Fx/src/main.ts`), 'export {}\n')
      t.equal(await text(`${room}/v1/README.md`), old)
      t.equal(await text(`${room}/${first}/README.md`), old)
      t.equal(await text(`${room}/src/main.ts`), 'export {}\n')
      t.equal(await text(`${room}/link`), 'src/main.ts', 'a symbolic link is its target as text')
    }
    await copy.git('branch', 'src', 'v1')
    await push('src')
    t.equal(
      await text('raw/src/main.ts'),
      'export {}\n',
      'a folder with the name of a branch is found',
    )
    t.equal(await text('raw/src/README.md'), old)
    for (const path of ['absent', 'src', 'module', 'main', 'x/README.md', '', 'README.md?ref=-x']) {
      t.equal(await text(`raw/${path}`), 404, path)
    }
  },
)

t.test('the web addresses serve the same bytes', async (t) => {
  const { ask, get, commits } = await startGatewayWithRepository(t)
  const [first] = commits
  const text = async (rest: string) => {
    const { status, text } = await ask({ path: `/ada/r/raw/${rest}` })
    return status === 200 ? text : status
  }
  t.equal(await text('branch/feature/x/README.md'), '# r\n')
  t.equal(await text('branch/main/README.md'), '# r\n\nmore\n')
  t.equal(await text('tag/v1/README.md'), '# r\n')
  t.equal(await text(`commit/${first}/README.md`), '# r\n')
  t.equal(await text('main/README.md'), '# r\n\nmore\n')
  for (const rest of ['branch/v1/README.md', 'tag/main/README.md', 'branch/main', 'absent/x']) {
    t.equal(await text(rest), 404, rest)
  }
  for (const path of ['README.md', 'src/deep/%C3%A4%20b%23.html']) {
    const { download_url } = (await get(`contents/${path}`)).json as { download_url: string }
    t.equal(await text(download_url.split('/raw/')[1] ?? ''), (await get(`raw/${path}`)).text, path)
  }
})

t.test('headers prevent that a browser executes pushed content', async (t) => {
  const { get } = await startGatewayWithRepository(t)
  const html = await get('raw/src/deep/%C3%A4%20b%23.html')
  t.match(html.headers, {
    'content-type': 'text/plain; charset=utf-8',
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; sandbox",
    'content-disposition': 'inline; filename="_ b#.html"; filename*=UTF-8\'\'%C3%A4%20b%23.html',
  })
  const binary = await get('raw/data.bin')
  t.match(binary.headers, {
    'content-type': 'application/octet-stream',
    'content-disposition': 'attachment; filename="data.bin"',
  })
})

t.test('a large file is streamed with its length, and a known one gets 304', async (t) => {
  const { get, ask, copy, push } = await startGatewayWithRepository(t)
  const bytes = incompressible(3_000_000)
  await copy.commit('large', bytes)
  await push('main')
  const { status, headers, bytes: got } = await get('raw/large')
  t.equal(status, 200)
  t.ok(got.equals(bytes))
  t.equal(headers['content-length'], '3000000')
  const path = '/api/v1/repos/ada/r/raw/large'
  const head = await ask({ method: 'HEAD', path })
  t.match([head.status, head.headers['content-length'], head.text], [200, '3000000', ''])
  const known = { 'if-none-match': `"x", ${headers['etag']}` }
  t.match(await ask({ path, headers: known }), { status: 304, text: '' })
})
