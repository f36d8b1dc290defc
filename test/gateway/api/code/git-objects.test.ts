/** Git objects over the API: trees in pages, blobs with content or size, references by prefix. */

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { BASE_URL } from '../../../helpers/gateway.js'
import { startGatewayWithRepository } from '../../../helpers/gateway-with-repository.js'

type Fields = Record<string, unknown>

t.test('a tree is listed flat, recursively, and in pages', async (t) => {
  const { get, copy } = await startGatewayWithRepository(t)
  const tree = await copy.git('rev-parse', 'main^{tree}')
  const flat = await get('git/trees/main')
  t.match(flat.json, { sha: tree, truncated: false, page: 1, total_count: 6 })
  const api = `${BASE_URL}/api/v1/repos/ada/r/git`
  const readme = await copy.git('rev-parse', 'main:README.md')
  const entries = (flat.json as { tree: Fields[] }).tree
  t.match(
    entries.find(({ path }) => path === 'README.md'),
    { mode: '100644', type: 'blob', size: 10, sha: readme, url: `${api}/blobs/${readme}` },
  )
  t.match(
    entries.map(({ path, type, mode }) => `${mode} ${type} ${path}`),
    [
      '100644 blob .gitmodules',
      '100644 blob README.md',
      '100644 blob data.bin',
      '120000 blob link',
      '160000 commit module',
      '040000 tree src',
    ],
  )
  const whole = await get(`git/trees/${tree}?recursive=1`)
  const paths = (whole.json as { tree: Fields[] }).tree.map(({ path }) => path)
  t.ok(paths.includes('src/deep') && paths.includes('src/deep/ä b#.html'))
  t.match(whole.json, { total_count: 9, truncated: false })
  const page = await get(`git/trees/${tree.slice(0, 10)}?recursive=true&per_page=4&page=2`)
  t.match(page.json, { page: 2, truncated: true, total_count: 9 })
  const links = String(page.headers['link'])
  const [, next = ''] = /repos\/ada\/r\/([^>]*)>; rel="next"/.exec(links) ?? []
  t.match((await get(next)).json, { page: 3, tree: [{ path: paths[8] }] })
  t.equal(page.headers['x-total-count'], '9')
  t.strictSame(
    (page.json as { tree: Fields[] }).tree.map(({ path }) => path),
    paths.slice(4, 8),
  )
  const last = await get('git/trees/main?recursive=true&per_page=4&page=3')
  t.match(last.json, { truncated: false, tree: [{ path: paths[8] }] })
  t.match((await get('git/trees/main?page=99')).json, { tree: [], truncated: false })
  for (const name of ['absent', readme, 'main:src', 'main%5E%7Btree%7D', '-r']) {
    t.equal((await get(`git/trees/${name}`)).status, 404, name)
  }
})

t.test('a blob has its content, and a large one only its size', async (t) => {
  const { get, copy, push } = await startGatewayWithRepository(t)
  const id = await copy.git('rev-parse', 'main:data.bin')
  t.match(await get(`git/blobs/${id}`), {
    status: 200,
    json: { content: 'AP8B', encoding: 'base64', sha: id, size: 3 },
  })
  await writeFile(join(copy.path, 'large'), Buffer.alloc(10_485_761))
  const oid = 'ab'.repeat(32)
  const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${oid}\nsize 7\n`
  await writeFile(join(copy.path, 'pointer'), pointer)
  await copy.git('add', 'large', 'pointer')
  await copy.git('commit', '--quiet', '-m', 'Large')
  await push('main')
  const large = await copy.git('rev-parse', 'main:large')
  t.match((await get(`git/blobs/${large}`)).json, {
    content: null,
    encoding: null,
    size: 10_485_761,
  })
  const pointed = await copy.git('rev-parse', 'main:pointer')
  t.match((await get(`git/blobs/${pointed}`)).json, { lfs_oid: oid, lfs_size: 7 })
  t.notOk(Reflect.has((await get(`git/blobs/${id}`)).json as object, 'lfs_oid'))
  const tree = await copy.git('rev-parse', 'main^{tree}')
  for (const name of ['0'.repeat(40), tree]) {
    t.equal((await get(`git/blobs/${name}`)).status, 404, name)
  }
  for (const name of ['main', '--batch', 'x', id.slice(0, 8)]) {
    t.equal((await get(`git/blobs/${name}`)).status, 400, name)
  }
})

t.test('references are listed by prefix without hidden ones', async (t) => {
  const { get, copy, commits } = await startGatewayWithRepository(t)
  const names = async (rest: string) => {
    const { status, json } = await get(rest)
    return status === 200 ? (json as Fields[]).map(({ ref }) => ref) : status
  }
  const heads = ['refs/heads/feature/x', 'refs/heads/main']
  const tags = ['refs/tags/light', 'refs/tags/v1']
  t.strictSame(await names('git/refs'), [...heads, 'refs/pull/7/head', ...tags])
  t.strictSame(await names('git/refs/heads'), heads)
  t.strictSame(await names('git/refs/heads/ma'), ['refs/heads/main'])
  t.strictSame(await names('git/refs/tags/'), tags)
  t.strictSame(await names('git/refs/heads%2Ffeature'), ['refs/heads/feature/x'])
  for (const rest of [
    'hidden',
    'hidden/x',
    'heads/x',
    '--output=x',
    '*',
    'refs/heads',
    '../HEAD',
  ]) {
    t.equal(await names(`git/refs/${rest}`), 404, rest)
  }
  const v1 = await copy.git('rev-parse', 'refs/tags/v1')
  const api = `${BASE_URL}/api/v1/repos/ada/r/git`
  t.match((await get('git/refs/tags/v1')).json, [
    { url: `${api}/refs/tags/v1`, object: { type: 'tag', sha: v1, url: `${api}/tags/${v1}` } },
  ])
  t.match((await get('git/refs/heads/main')).json, [
    { object: { type: 'commit', sha: commits[2] } },
  ])
})
