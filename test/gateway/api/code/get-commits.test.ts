/** Commits over the API: histories of revisions and paths, single commits, and notes. */

import t from 'tap'
import { startGatewayWithRepository } from '../../../helpers/gateway-with-repository.js'
import { refusal } from '../../../helpers/gateway-with-users.js'

type Fields = Record<string, unknown>

const shas = (json: unknown) => (json as Fields[]).map(({ sha }) => sha)

t.test('a history is listed in pages, newest first', async (t) => {
  const { get, commits } = await startGatewayWithRepository(t)
  const [first, second, third] = commits
  const all = await get('commits')
  t.strictSame(shas(all.json), [third, second, first])
  t.match(all.headers, {
    'x-total-count': '3',
    'x-page': '1',
    'x-perpage': '30',
    'x-total': '3',
    'x-pagecount': '1',
    'x-hasmore': 'false',
  })
  t.match(all.json, [
    {
      stats: { total: 2, additions: 2, deletions: 0 },
      files: [{ filename: 'README.md', status: 'modified' }],
      author: { login: 'ada' },
      commit: { message: 'Write README.md\n', verification: { verified: false } },
    },
    { parents: [{ sha: first }] },
    { files: [{ filename: 'README.md', status: 'added' }], parents: [] },
  ])
  const page = await get('commits?limit=1&page=2&stat=false&files=false&verification=false')
  t.match(page.json, [{ sha: second, stats: null, files: null, commit: { verification: null } }])
  t.match(page.headers, { 'x-hasmore': 'true', link: /stat=false&.*limit=1&page=3>; rel="next"/ })
  t.strictSame(shas((await get('commits?sha=v1')).json), [first])
  t.strictSame(shas((await get('commits?sha=feature%2Fx&limit=1')).json), [second])
  t.strictSame(shas((await get(`commits?sha=${third.slice(0, 8)}&limit=1`)).json), [third])
  t.strictSame(shas((await get('commits?sha=refs/pull/7/head&not=v1')).json), [third, second])
  t.strictSame(shas((await get('commits?path=README.md')).json), [third, first])
  t.strictSame(shas((await get('commits?path=/src/')).json), [second])
  t.strictSame((await get('commits?until=2001-01-01T00:00:00Z')).json, [])
  t.equal(shas((await get('commits?since=2001-01-01T00:00:00%2B01:00')).json).length, 3)
  t.equal(shas((await get('commits?since=2001-01-01T00:00:00+01:00')).json).length, 3)
})

t.test('a missing revision or path is refused with its status', async (t) => {
  const { get, as } = await startGatewayWithRepository(t)
  for (const query of ['sha=absent', 'not=absent', 'path=absent', 'path=a/../b', 'path=*.md']) {
    t.equal((await get(`commits?${query}`)).status, 404, query)
  }
  t.equal((await get('commits?since=yesterday')).status, 422)
  t.strictSame((await get('commits?page=9')).json, [])
  await as('ada', 'POST', '/user/repos', { name: 'empty' })
  const empty = await as('bob', 'GET', '/repos/ada/empty/commits')
  t.equal(empty.status, 409)
  t.strictSame(empty.json, refusal('Git Repository is empty.'))
})

t.test('a merge is compared with its first parent', async (t) => {
  const { get, copy, push } = await startGatewayWithRepository(t)
  await copy.git('checkout', '--quiet', '-b', 'side', 'v1')
  await copy.commit('side')
  await copy.git('checkout', '--quiet', 'main')
  await copy.git('merge', '--quiet', '--no-edit', 'side')
  await push('main')
  t.match((await get('git/commits/main')).json, {
    files: [{ filename: 'side', status: 'added' }],
    stats: { total: 1, additions: 1 },
    parents: [{}, {}],
  })
})

t.test('a commit is read by any name of it', async (t) => {
  const { get, commits } = await startGatewayWithRepository(t)
  const [first, , third] = commits
  for (const name of ['main', third, third.slice(0, 7), 'refs%2Fheads%2Fmain', 'HEAD']) {
    t.match(await get(`git/commits/${name}`), { status: 200, json: { sha: third } }, name)
  }
  t.match((await get('git/commits/v1?stat=false')).json, { sha: first, stats: null })
  t.equal((await get('git/commits/absent')).status, 404)
  for (const name of ['main~1', '--output=x', 'main%5E%7Btree%7D', '%40%7B1%7D']) {
    t.strictSame((await get(`git/commits/${name}`)).json, refusal('no valid ref or sha'), name)
  }
})

t.test('a note is found in a flat and in a fanned-out tree', async (t) => {
  const { get, copy, commits, push } = await startGatewayWithRepository(t)
  const [first, , third] = commits
  t.equal((await get('git/notes/main')).status, 404)
  await copy.git('notes', 'add', '-m', 'Well done', 'main')
  await push('refs/notes/*')
  const noteCommit = await copy.git('rev-parse', 'refs/notes/commits')
  const { json } = await get(`git/notes/${third}`)
  t.match(json, { message: 'Well done\n', commit: { sha: noteCommit, stats: null } })
  t.equal((await get(`git/notes/${first}`)).status, 404)
  const blob = await copy.git('rev-parse', `refs/notes/commits:${third}`)
  const path = `${third.slice(0, 2)}/${third.slice(2, 4)}/${third.slice(4)}`
  await copy.git('read-tree', '--empty')
  await copy.git('update-index', '--add', '--cacheinfo', `100644,${blob},${path}`)
  const fanned = await copy.git('commit-tree', '-m', 'x', await copy.git('write-tree'))
  await copy.git('update-ref', 'refs/notes/commits', fanned)
  await push('refs/notes/*')
  t.match((await get('git/notes/main')).json, { message: 'Well done\n', commit: { sha: fanned } })
})
