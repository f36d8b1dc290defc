/** Contents of a pull request over the API: commits, files, a diff, and patches for git. */

import t from 'tap'
import { BASE_URL } from '../../../helpers/gateway.js'
import { type Fields, startGatewayWithPull } from '../../../helpers/pulls.js'
import { newWorkingCopy } from '../../../helpers/working-copy.js'

t.test('commits are listed newest first, with their files, in pages', async (t) => {
  const { of, write, open } = await startGatewayWithPull(t)
  const ids = [await write('topic', 'a'), await write('topic', 'b'), await write('topic', 'a', 'x')]
  await write('main', 'elsewhere')
  await open('topic')
  const all = await of('anyone', 'GET', '/pulls/1/commits')
  t.match(all.json, [
    { sha: ids[2], files: [{ filename: 'a', status: 'modified' }], stats: { total: 2 } },
    { sha: ids[1], files: [{ filename: 'b', status: 'added' }] },
    {
      sha: ids[0],
      author: { login: 'ada' },
      html_url: `${BASE_URL}/ada/r/commit/${ids[0]}`,
      commit: { message: 'Write a\n', verification: { verified: false } },
    },
  ])
  t.match(all.headers, { 'x-total-count': '3', 'x-total': '3', 'x-hasmore': 'false' })
  const page = await of('ada', 'GET', '/pulls/1/commits?limit=2&page=2&files=false')
  t.match(page.json, [{ sha: ids[0], files: null }])
  t.equal((page.json as Fields[]).length, 1)
  t.match(page.headers, { 'x-page': '2', 'x-perpage': '2', 'x-pagecount': '2', 'x-total': '3' })
  t.match(page.headers['link'], /pulls\/1\/commits\?limit=2&page=1>; rel="first"/)
  const plain = await of('ada', 'GET', '/pulls/1/commits?verification=false&page=9')
  t.strictSame(plain.json, [])
})

t.test('files are the differences since the merge base', async (t) => {
  const { of, write, open } = await startGatewayWithPull(t)
  await write('main', 'blank', 'a b\n')
  await write('topic', 'blank', 'a  b\n')
  const tip = await write('topic', 'ä b?#', 'x\ny\n')
  await write('main', 'elsewhere')
  await open('topic')
  const files = await of('anyone', 'GET', '/pulls/1/files')
  const path = '%C3%A4%20b%3F%23'
  t.strictSame((files.json as Fields[])[1], {
    filename: 'ä b?#',
    status: 'added',
    additions: 2,
    deletions: 0,
    changes: 2,
    html_url: `${BASE_URL}/ada/r/src/commit/${tip}/${path}`,
    contents_url: `${BASE_URL}/api/v1/repos/ada/r/contents/${path}?ref=${tip}`,
    raw_url: `${BASE_URL}/ada/r/raw/commit/${tip}/${path}`,
  })
  t.match(files.json, [{ filename: 'blank', status: 'changed', changes: 2 }, {}])
  t.match(files.headers, { 'x-total-count': '2' })
  const [one] = (await of('ada', 'GET', '/pulls/1/files?skip-to=%C3%A4%20b%3F%23')).json as Fields[]
  t.match(one, { filename: 'ä b?#' })
  const ignoring = await of('ada', 'GET', '/pulls/1/files?whitespace=ignore-all')
  t.match(ignoring.json, [{ filename: 'blank', changes: 0 }, {}])
})

t.test('git applies the diff and the patches', async (t) => {
  const { of, write, open, copy, bare } = await startGatewayWithPull(t)
  await write('topic', 'a', 'one\n')
  const tip = await write('topic', 'bytes', '\0\u0001')
  await open('topic')
  const diff = await of('anyone', 'GET', '/pulls/1.diff')
  t.match(diff, { status: 200, headers: { 'content-type': 'text/plain; charset=utf-8' } })
  t.match(diff.text, /^diff --git a\/a b\/a\nnew file mode 100644/)
  t.match(diff.text, /^Binary files \/dev\/null and b\/bytes differ$/m)
  const patch = await of('anyone', 'GET', '/pulls/1.patch?binary=true')
  const other = await newWorkingCopy(t)
  await other.git('pull', '--quiet', bare, 'main')
  t.match(await other.try(['am', '--quiet'], { input: patch.bytes }), { exitCode: 0 })
  t.equal(await other.git('rev-parse', 'HEAD^{tree}'), await copy.git('rev-parse', `${tip}^{tree}`))
  for (const path of ['/pulls/2.diff', '/pulls/1.zip', '/pulls/x.diff', '/pulls/.diff']) {
    t.equal((await of('anyone', 'GET', path)).status, 404, path)
  }
})
