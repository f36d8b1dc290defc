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

t.test('the extended contents have the fields that "includes" names', async (t) => {
  const { get, as, copy, push } = await startGatewayWithRepository(t)
  const oid = 'a'.repeat(64)
  const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${oid}\nsize 5\n`
  await copy.commit('src/deep/a.bin', pointer)
  await push('refs/heads/main')
  const file = (rest: string) => get(`contents-ext/${rest}`).then(({ json }) => json)
  t.match(await file('README.md'), {
    file_contents: { path: 'README.md', size: 10, content: null },
  })
  t.match(await file('README.md?includes=file_content,lfs_metadata'), {
    file_contents: { content: 'IyByCgptb3JlCg==', encoding: 'base64', lfs_oid: undefined },
  })
  t.match(await file('src/deep/a.bin?includes=lfs_metadata'), {
    file_contents: { lfs_oid: oid, lfs_size: 5, content: null },
  })
  const [at = '', subject = ''] = (
    await copy.git('log', '-1', '--format=%cI%x00%B', '--', 'README.md')
  ).split('\0')
  t.match(await file('README.md?includes=commit_metadata,commit_message'), {
    file_contents: { last_committer_date: at.replace('+00:00', 'Z'), last_commit_message: subject },
  })
  t.match(await file('src?includes=commit_message'), {
    dir_contents: [{ last_commit_message: /./, last_author_date: /^20/ }],
  })
  const lfs = { lfs_oid: oid, lfs_size: 5 }
  t.match(await file('src/deep?includes=lfs_metadata'), {
    dir_contents: [lfs, {}],
    file_contents: undefined,
  })
  t.match(await file('link'), { file_contents: { type: 'symlink', target: 'src/main.ts' } })
  const top = (await file('')) as { readonly dir_contents: readonly Fields[] }
  t.equal(top.dir_contents.length, 6)
  t.equal((await get('contents-ext/README.md?includes=all')).status, 400)
  t.equal((await get('contents-ext/absent')).status, 404)
  await as('ada', 'POST', '/user/repos', { name: 'empty' })
  t.match(await as('bob', 'GET', '/repos/ada/empty/contents-ext/'), {
    status: 200,
    json: {},
  })
})

t.test('several files are read in one request, in the order of their paths', async (t) => {
  const { get, as } = await startGatewayWithRepository(t)
  const files = ['src/main.ts', 'absent', 'README.md', 'src', '../x', '']
  const wanted = [{ content: 'ZXhwb3J0IHt9Cg==' }, null, { size: 10 }, { type: 'dir' }, null, null]
  const sent = (body: unknown) => encodeURIComponent(JSON.stringify(body))
  t.match((await get(`file-contents?body=${sent({ files })}`)).json, wanted)
  t.match((await as('bob', 'POST', '/repos/ada/r/file-contents?ref=main', { files })).json, wanted)
  const [older] = (await get(`file-contents?ref=v1&body=${sent({ files: ['README.md'] })}`))
    .json as Fields[]
  t.match(older, { content: 'IyByCg==' })
  const many = { files: Array.from({ length: 40 }, () => 'README.md') }
  t.equal(((await get(`file-contents?body=${sent(many)}`)).json as Fields[]).length, 30)
  for (const body of ['', '{', '[]', '{"files":1}']) {
    const { status } = await get(`file-contents?body=${encodeURIComponent(body)}`)
    t.equal(status, 400, `body ${body}`)
  }
  t.equal((await as('bob', 'POST', '/repos/ada/r/file-contents', {})).status, 422)
  t.equal((await get(`file-contents?ref=absent&body=${sent({ files })}`)).status, 404)
})
