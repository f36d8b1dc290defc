/** Contents over the API: an object for a file, link or submodule, and an array for a folder. */

import t from 'tap'
import { BASE_URL } from '../../../helpers/gateway.js'
import { startGatewayWithRepository } from '../../../helpers/gateway-with-repository.js'

type Fields = Record<string, unknown>

t.test('a file has its content as one line of base64', async (t) => {
  const { get, commits, copy } = await startGatewayWithRepository(t)
  const [first, second, third] = commits
  t.match((await get('contents/README.md')).json, {
    type: 'file',
    name: 'README.md',
    path: 'README.md',
    size: 10,
    encoding: 'base64',
    content: Buffer.from('# r\n\nmore\n').toString('base64'),
    last_commit_sha: third,
    sha: await copy.git('rev-parse', 'main:README.md'),
    download_url: `${BASE_URL}/ada/r/raw/branch/main/README.md`,
  })
  t.match((await get('contents/README.md?ref=v1')).json, {
    content: 'IyByCg==',
    last_commit_sha: first,
    download_url: `${BASE_URL}/ada/r/raw/tag/v1/README.md`,
  })
  t.match((await get(`contents/data.bin?ref=${second}`)).json, { content: 'AP8B' })
  for (const path of ['src/deep/%C3%A4%20b%23.html', 'src%2Fdeep%2F%C3%A4%20b%23.html']) {
    t.match((await get(`contents/${path}`)).json, { name: 'ä b#.html', size: 25 }, path)
  }
  t.match((await get('contents/link')).json, {
    type: 'symlink',
    target: 'src/main.ts',
    content: null,
    encoding: null,
  })
  t.match((await get('contents/module')).json, {
    type: 'submodule',
    sha: first,
    submodule_git_url: 'https://example.com/m.git',
  })
})

t.test('a folder is an array without contents', async (t) => {
  const { get, commits, as } = await startGatewayWithRepository(t)
  const [, second, third] = commits
  const top = (await get('contents')).json as Fields[]
  t.match(top, [
    { name: '.gitmodules', type: 'file', content: null, last_commit_sha: second },
    { name: 'README.md', size: 10, encoding: null, last_commit_sha: third },
    { name: 'data.bin', size: 3 },
    { name: 'link', type: 'symlink', target: 'src/main.ts' },
    { name: 'module', type: 'submodule', submodule_git_url: 'https://example.com/m.git', size: 0 },
    { name: 'src', type: 'dir', last_commit_sha: second, download_url: null },
  ])
  t.strictSame((await get('contents/')).json, top)
  t.strictSame((await get('contents?ref=main')).json, top)
  const inner = await get('contents/src/?ref=feature/x')
  t.match(inner.json, [
    { path: 'src/deep', type: 'dir' },
    { path: 'src/main.ts', url: /\/contents\/src\/main\.ts\?ref=feature%2Fx$/ },
  ])
  await as('ada', 'POST', '/user/repos', { name: 'empty' })
  t.match(await as('bob', 'GET', '/repos/ada/empty/contents'), { status: 200, json: [] })
  t.equal((await as('bob', 'GET', '/repos/ada/empty/contents/x')).status, 404)
  t.equal((await as('bob', 'GET', '/repos/ada/empty/contents?ref=x')).status, 404)
})

t.test('a missing path is 404, and symbolic links are not followed', async (t) => {
  const { get } = await startGatewayWithRepository(t)
  const paths = ['absent', 'src/absent', 'README.md/x', 'link/x', 'module/x', 'readme.md']
  for (const path of [...paths, 'src/../README.md', 'src//main.ts', '.git/config', '%00', '*']) {
    t.equal((await get(`contents/${path}`)).status, 404, path)
  }
  for (const ref of ['absent', 'main~1', 'main:src', '--all', 'refs/hidden/x']) {
    t.equal((await get(`contents/README.md?ref=${ref}`)).status, 404, ref)
  }
})
