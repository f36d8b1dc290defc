/** Imports from a source with inconsistent data: complete or refused. */

// The API of the source is simulated, because no real server sends this; its Git is real.

import { readdir } from 'node:fs/promises'
import t, { type Test } from 'tap'
import { listImports } from '../../../sql/repositories/repository-imports.js'
import { startGatewayWithUsers } from '../../helpers/gateway-with-users.js'
import { git } from '../../helpers/git-client.js'
import { type SourceAnswer, serveSource } from '../../helpers/gitea-front.js'
import { startReceiver } from '../../helpers/receiver.js'
import { aSource, serveBare } from '../../helpers/sources.js'

const times = { created_at: '2020-01-02T03:04:05Z', updated_at: '2020-01-02T03:04:05Z' }
const user = { id: 4, login: 'eve' }
const issue = { title: 'T', body: 'text', state: 'open', user, ...times }
const branches = (head: string, repo_id = 1) => ({
  base: { label: 'main', ref: 'main', sha: '', repo_id: 1 },
  head: { label: head, ref: head, sha: 'f'.repeat(40), repo_id },
})
const ALL = {
  service: 'gitea',
  labels: true,
  milestones: true,
  issues: true,
  pull_requests: true,
  releases: true,
  auth_token: 'S3cret',
}

async function startFixture(t: Test, environment: Readonly<Record<string, string>> = {}) {
  const gateway = await startGatewayWithUsers(t, {
    environment: { GATEHOUSE_OUTBOUND_ALLOW: '127.0.0.1', ...environment },
  })
  const get = async (path: string) =>
    (await gateway.as('ada', 'GET', `/repos/ada/r${path}`)).json as Record<string, unknown>
  const migrate = async (gitUrl: string, answering: SourceAnswer) => {
    const { url: clone_addr } = await serveSource(t, gitUrl, answering)
    return await gateway.as('ada', 'POST', '/repos/migrate', { ...ALL, clone_addr, repo_name: 'r' })
  }
  return { ...gateway, migrate, get }
}

t.test('pull requests without available commits keep their text', async (t) => {
  const { migrate, get, pathOf } = await startFixture(t)
  const source = await aSource(t)
  const at = (name: string) => git(['rev-parse', name], { cwd: source.path })
  await git(['update-ref', 'refs/pull/9/head', await at('branch-1')], { cwd: source.path })
  const [head, main] = [await at('refs/pull/1/head'), await at('main')]
  const merged = { merged: true, merged_at: times.created_at, merge_commit_sha: main }
  const made = await migrate(source.url, {
    '/pulls': [
      { ...issue, id: 1, number: 1, ...branches('main', 2) },
      { ...issue, id: 2, number: 2, ...branches('gone') },
      { ...issue, id: 3, number: 3, ...branches('branch-3', 2), ...merged },
      { ...issue, id: 4, number: 1, ...branches('twice') },
    ],
  })
  t.equal(made.status, 201, made.text)
  t.match(await get('/pulls/1'), {
    state: 'open',
    body: 'text',
    head: { label: 'main', sha: head, repo_id: -1, repo: null },
  })
  t.match(await get('/pulls/2'), { state: 'closed', body: 'text', merged: false })
  t.match(await get('/pulls/3'), { state: 'closed', merged: true, merge_commit_sha: main })
  const references = await git(['for-each-ref', 'refs/pull'], { cwd: await pathOf('ada', 'r') })
  t.match(references, /refs\/pull\/1\/head/)
  t.notMatch(references, /refs\/pull\/9/, 'the source has no reference for that one')
})

t.test(
  'a pull request without a commit is imported as an issue, and a release without a tag as a draft',
  async (t) => {
    const { migrate, get } = await startFixture(t)
    const { url } = await serveBare(t)
    const label = { id: 5, name: 'theirs', color: 'abcdef' }
    const made = await migrate(url, {
      '/issues': [{ ...issue, id: 1, number: 7, labels: [label], assets: [{ x: 1 }], unknown: {} }],
      '/pulls': [{ ...issue, id: 2, number: 8, ...branches('topic') }],
      '/releases': [{ id: 3, tag_name: 'v1', ...times }],
    })
    t.equal(made.status, 201, made.text)
    t.match(await get('/issues/7'), { labels: [{ name: 'theirs' }], original_author: 'eve' })
    t.match(await get('/issues/8'), { state: 'closed', body: 'text', pull_request: null })
    t.match(await get('/releases'), [{ tag_name: 'v1', draft: true }])
    t.equal((await get('/labels'))['length'], 1)
  },
)

t.test('an import with one invalid object is refused and leaves nothing', async (t) => {
  const fixture = await startFixture(t, { GATEHOUSE_ATTACHMENTS_SIZE_MAX: '1KiB' })
  const { migrate, db, settings, lines, as } = fixture
  const { url } = await serveBare(t)
  const { url: file } = await startReceiver(t, { answer: (response) => response.end('abc') })
  const asset = { id: 6, name: 'f', size: 3, browser_download_url: file }
  const release = (changes: object) => ({
    '/releases': [{ id: 3, tag_name: 'v1', ...times, assets: [{ ...asset, ...changes }] }],
  })
  const refused: ReadonlyArray<readonly [SourceAnswer, RegExp]> = [
    [{ '/labels': [{ id: 1, name: 'a\nb', color: '#fff' }] }, /the label 1 of the source/],
    [{ '/milestones': [{ id: 2, title: ' ', state: 'open' }] }, /the milestone 2 of the source/],
    [{ '/issues': [{ ...issue, id: 1, number: 1, state: 'gone' }] }, /invalid answer: \/issues\/0/],
    [{ '/issues': [{ ...issue, id: 1, number: 1, title: 'x'.repeat(300) }] }, /the issue 1 of/],
    [release({ name: '../../etc/passwd' }), /the file 6 of the source is not valid here/],
    [release({ size: 2_000 }), /the file 6 of the source is too large/],
    [release({ size: 2 }), /the file 6 of the source is too large/],
    [release({ size: 1_000 }), /the file 6 of the source is incomplete/],
    [release({ browser_download_url: 'http://169.254.169.254/latest' }), /is not allowed/],
  ]
  for (const [answering, message] of refused) {
    const answer = await migrate(url, answering)
    t.match(answer, { status: 422, json: { message } })
  }
  t.strictSame(await listImports(db), [])
  t.strictSame(await db('import_blobs'), [])
  t.strictSame(await readdir(`${settings.data.dir}/blobs/incoming`), [])
  t.equal((await as('ada', 'GET', '/repos/ada/r')).status, 404)
  t.notMatch(JSON.stringify(lines), /S3cret|b2F1dGgyOlMzY3JldA/)
})
