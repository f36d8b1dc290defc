/** Releases over the API: created with their tags, listed, changed, deleted. */

import t, { type Test } from 'tap'
import type { DatabaseLocation } from '../../../../conf/database-location.js'
import { onOneDatabase } from '../../../helpers/databases.js'
import { isExpected } from '../../../helpers/expected.js'
import { BASE_URL } from '../../../helpers/gateway.js'
import { type Name, refusal, startGatewayWithUsers } from '../../../helpers/gateway-with-users.js'
import { git, tryGit } from '../../../helpers/git-client.js'
import { until } from '../../../helpers/server-processes.js'

type Fields = Record<string, unknown>

const NOT_FOUND = refusal('not found')

/** Creates ada's repository `engine` with one commit on main; bob may only read it. */
async function startWorkspace(t: Test, location?: DatabaseLocation) {
  const gateway = await startGatewayWithUsers(t, location === undefined ? {} : { location })
  const { as } = gateway
  await as('ada', 'POST', '/user/repos', { name: 'engine', auto_init: true })
  const cwd = await gateway.pathOf('ada', 'engine')
  const path = '/repos/ada/engine/releases'
  const release = async (tag_name: string, body: Fields = {}) => {
    const answer = await as('ada', 'POST', path, { tag_name, ...body })
    if (answer.status !== 201) throw new Error(answer.text)
    return answer.json as Fields & { readonly id: number }
  }
  const tags = () =>
    git(['for-each-ref', '--format=%(refname) %(objecttype)', 'refs/tags'], { cwd })
  const listed = async (name: Name, query = '') => {
    const { json, headers } = await as(name, 'GET', path + query)
    const names = (json as Fields[]).map(({ tag_name }) => tag_name)
    return [headers['x-total-count'], ...names]
  }
  return { ...gateway, cwd, path, release, tags, listed }
}

await onOneDatabase(t, 'a release is created with its tag and read back', async (t, location) => {
  const { as, cwd, path, tags } = await startWorkspace(t, location)
  const plain = await as('ada', 'POST', path, { tag_name: 'v1.0' })
  t.equal(plain.status, 201, plain.text)
  isExpected(t, plain.json, 'api/release-created')
  const all = {
    tag_name: 'lib/v2',
    target_commitish: 'main',
    name: 'Zweï',
    body: '* one\n* two\n',
    prerelease: true,
    tag_message: 'Signed off\n\nby ada',
  }
  const full = await as('ada', 'POST', path, all)
  t.equal(full.status, 201, full.text)
  isExpected(t, full.json, 'api/release-created-full')
  t.equal(await tags(), 'refs/tags/lib/v2 tag\nrefs/tags/v1.0 commit')
  const message = await git(
    ['for-each-ref', '--format=%(contents)%(taggername)', 'refs/tags/lib'],
    {
      cwd,
    },
  )
  t.equal(message, 'Signed off\n\nby ada\nada')
  for (const commit of ['v1.0', 'lib/v2']) {
    const tip = await git(['rev-parse', `refs/tags/${commit}^{commit}`], { cwd })
    t.equal(tip, await git(['rev-parse', 'refs/heads/main'], { cwd }))
  }
  const { id } = full.json as { id: number }
  for (const way of [`/${id}`, '/tags/lib/v2', '/tags/lib%2Fv2']) {
    const read = await as('anyone', 'GET', path + way)
    t.equal(read.status, 200, way)
    t.strictSame(read.json, full.json, way)
  }
  const latest = await as('anyone', 'GET', `${path}/latest`)
  t.strictSame(latest.json, plain.json, 'a pre-release is not the latest')
  const repository = await as('anyone', 'GET', '/repos/ada/engine')
  t.match(repository.json, { release_counter: 2 })
})

await onOneDatabase(t, 'a release is created for an existing tag', async (t, location) => {
  const { as, cwd, path, tags } = await startWorkspace(t, location)
  await git(['tag', 'v1', 'main'], { cwd })
  t.equal((await as('ada', 'GET', `${path}/tags/v1`)).status, 404, 'a tag without a release is 404')
  const body = { tag_name: 'v1', target_commitish: 'absent', tag_message: 'late' }
  const made = await as('ada', 'POST', path, body)
  t.equal(made.status, 201, made.text)
  t.equal(await tags(), 'refs/tags/v1 commit', 'the tag is unchanged')
  const again = await as('ada', 'POST', path, { tag_name: 'v1' })
  t.equal(again.status, 409)
  t.strictSame(again.json, refusal('release tag already exist [tag_name: v1]'))
  const way = await as('ada', 'POST', path, { tag_name: 'v1/x' })
  t.equal(way.status, 409, 'another tag conflicts with this one')
  const both = await Promise.all([1, 2, 3].map(() => as('ada', 'POST', path, { tag_name: 'v2' })))
  t.strictSame(both.map(({ status }) => status).sort(), [201, 409, 409])
})

await onOneDatabase(t, 'a release of an empty repository is refused', async (t, location) => {
  const { as, path, tags } = await startWorkspace(t, location)
  await as('ada', 'POST', '/user/repos', { name: 'empty' })
  for (const draft of [false, true]) {
    const body = { tag_name: 'v1', draft }
    const { status, json } = await as('ada', 'POST', '/repos/ada/empty/releases', body)
    t.equal(status, 422)
    t.strictSame(json, refusal('repo is empty'))
  }
  for (const target_commitish of ['absent', 'main~0', '--help', '0000000', 'main:README.md']) {
    const refused = await as('ada', 'POST', path, { tag_name: 'v1', target_commitish })
    t.equal(refused.status, 404, target_commitish)
    t.strictSame(refused.json, refusal(`target "${target_commitish}" not found`))
  }
  t.strictSame((await as('ada', 'POST', path, {})).json, refusal('[TagName]: Required'))
  const long = { tag_name: 'v1', name: 'x'.repeat(256) }
  t.equal((await as('ada', 'POST', path, long)).status, 422)
  t.equal(await tags(), '')
  t.equal((await as('ada', 'GET', `${path}/latest`)).status, 404)
})

t.test(
  'a tag name that git could take for an option or revision is treated as a name',
  async (t) => {
    const { as, cwd, path, tags, lines } = await startWorkspace(t)
    const names = [
      '-d',
      '--help',
      '-F/etc/passwd',
      '--upload-pack=touch x',
      'a b',
      'a..b',
      'a.lock',
      '@',
      '../../x',
      'a/../b',
      'refs\\x',
      'a\nb',
      'a\u0000b',
      'a:b',
      '^main',
      'a~1',
      'HEAD',
      '/a',
      '\ud800',
      'x'.repeat(256),
    ]
    for (const tag_name of names) {
      const made = await as('ada', 'POST', path, { tag_name })
      t.equal(made.status, 422, `POST ${encodeURIComponent(JSON.stringify(tag_name))}`)
      t.notMatch(made.text, /usage:|fatal:|root:/)
      const rest = encodeURIComponent(tag_name.replace('\ud800', '?'))
      for (const method of ['GET', 'DELETE']) {
        const { status, text } = await as('ada', method, `${path}/tags/${rest}`)
        t.equal(status, 404, `${method} ${rest}`)
        t.notMatch(text, /usage:|fatal:|root:/)
      }
    }
    t.equal(await tags(), '')
    t.notMatch(JSON.stringify(lines), /usage: git|fatal:/)
    const odd = ['a-d', '$(id)', '`id`', "a'b", 'a;id', 'é', '%2e%2e', '\u202etxt']
    for (const tag_name of odd) {
      const { status, text } = await as('ada', 'POST', path, { tag_name, tag_message: '-d' })
      t.equal(status, 201, text)
      const read = await as('ada', 'GET', `${path}/tags/${encodeURIComponent(tag_name)}`)
      t.match(read.json, { tag_name })
      t.equal((await tryGit(['rev-parse', `refs/tags/${tag_name}`], { cwd })).exitCode, 0)
    }
  },
)

await onOneDatabase(
  t,
  'a draft is visible to writers only and creates no tag',
  async (t, location) => {
    const { as, release, tags, listed, path } = await startWorkspace(t, location)
    await release('v1')
    const draft = await release('v2', { draft: true, tag_message: 'Two' })
    t.match(draft, { draft: true })
    t.equal(await tags(), 'refs/tags/v1 commit')
    t.strictSame(await listed('ada'), ['2', 'v2', 'v1'])
    t.strictSame(await listed('ada', '?draft=true'), ['1', 'v2'])
    t.strictSame(await listed('ada', '?draft=false'), ['1', 'v1'])
    for (const name of ['bob', 'anyone'] as const) {
      t.strictSame(await listed(name), ['1', 'v1'])
      t.strictSame(await listed(name, '?draft=true'), ['0'])
      for (const way of [`/${draft.id}`, '/tags/v2', `/${draft.id}/assets`]) {
        const { status, json } = await as(name, 'GET', path + way)
        t.equal(status, 404, `${name} ${way}`)
        t.strictSame(json, NOT_FOUND)
      }
    }
    t.match((await as('ada', 'GET', `${path}/latest`)).json, { tag_name: 'v1' })
    const named = await as('ada', 'PATCH', `${path}/${draft.id}`, { name: 'Two' })
    t.match(named.json, { name: 'Two', draft: true })
    t.equal(await tags(), 'refs/tags/v1 commit', 'nor by a change of it')
    const published = await as('ada', 'PATCH', `${path}/${draft.id}`, { draft: false })
    t.equal(published.status, 200, published.text)
    t.match(published.json, { draft: false, name: 'Two', tag_name: 'v2' })
    t.equal(await tags(), 'refs/tags/v1 commit\nrefs/tags/v2 tag', 'with its own message')
    t.strictSame(await listed('anyone'), ['2', 'v2', 'v1'])
    t.match((await as('ada', 'GET', `${path}/latest`)).json, { tag_name: 'v2' })
  },
)

await onOneDatabase(t, 'a change keeps the fields that it does not name', async (t, location) => {
  const { as, release, path, tags, listed } = await startWorkspace(t, location)
  const made = await release('v1', { name: 'One', body: 'text', prerelease: true })
  await release('v2')
  const edit = (body: Fields) => as('ada', 'PATCH', `${path}/${made.id}`, body)
  const empty = { tag_name: '', name: '', body: '', target_commitish: '', draft: null }
  t.strictSame((await edit(empty)).json, made, 'an empty value is ignored too')
  t.match((await edit({ prerelease: false })).json, { ...made, prerelease: false })
  t.match((await edit({ name: 'Uno', body: 'more' })).json, { name: 'Uno', body: 'more' })
  t.match((await edit({ tag_name: 'v3' })).json, { tag_name: 'v3', name: 'Uno' })
  t.equal(await tags(), ['v1', 'v2', 'v3'].map((tag) => `refs/tags/${tag} commit`).join('\n'))
  for (const [body, status] of [
    [{ tag_name: 'v2' }, 409],
    [{ tag_name: '-d' }, 422],
    [{ tag_name: 'v4', target_commitish: 'absent' }, 404],
    [{ draft: 'false' }, 422],
  ] as const) {
    t.equal((await edit(body)).status, status, JSON.stringify(body))
  }
  t.equal((await tags()).split('\n').length, 3, 'drafts create no tag')
  t.match((await edit({ draft: true })).json, { draft: true })
  t.strictSame(await listed('anyone'), ['1', 'v2'])
})

await onOneDatabase(t, 'deleting a release keeps its tag', async (t, location) => {
  const { as, release, path, tags, listed } = await startWorkspace(t, location)
  const one = await release('v1')
  await release('lib/v2')
  const tag = '/repos/ada/engine/tags/lib/v2'
  const held = await as('ada', 'DELETE', tag)
  t.equal(held.status, 409)
  t.strictSame(held.json, refusal('a tag attached to a release cannot be deleted directly'))
  t.equal((await as('ada', 'DELETE', `${path}/${one.id}`)).status, 204)
  t.equal((await as('ada', 'DELETE', `${path}/${one.id}`)).status, 404)
  t.equal((await as('ada', 'DELETE', `${path}/tags/lib/v2`)).status, 204)
  t.equal((await as('ada', 'DELETE', `${path}/tags/lib/v2`)).status, 404)
  t.strictSame(await listed('ada'), ['0'])
  t.equal(await tags(), 'refs/tags/lib/v2 commit\nrefs/tags/v1 commit')
  t.match((await as('ada', 'GET', '/repos/ada/engine')).json, { release_counter: 0 })
  t.equal((await as('ada', 'DELETE', tag)).status, 204, 'and the tag can be deleted then')
  await release('v1')
})

await onOneDatabase(t, 'a list has pages and filters', async (t, location) => {
  const { as, release, path, listed } = await startWorkspace(t, location)
  for (let n = 1; n <= 5; n += 1) await release(`v${n}`, { prerelease: n % 2 === 0 })
  t.strictSame(await listed('anyone', '?pre-release=true'), ['2', 'v4', 'v2'])
  t.strictSame(await listed('anyone', '?pre-release=false&limit=1&page=2'), ['3', 'v3'])
  const { headers } = await as('anyone', 'GET', `${path}?pre-release=false&limit=1`)
  const next = `${BASE_URL}/api/v1${path}?pre-release=false&limit=1&page=2`
  t.match(headers['link'], `<${next}>; rel="next"`)
})

await onOneDatabase(
  t,
  'callers without permission are refused, and disabled releases are 404',
  async (t, location) => {
    const { as, release, path } = await startWorkspace(t, location)
    const { id } = await release('v1')
    for (const [method, rest] of [
      ['POST', ''],
      ['PATCH', `/${id}`],
      ['DELETE', `/${id}`],
      ['DELETE', '/tags/v1'],
    ] as const) {
      const body = method === 'DELETE' ? undefined : { tag_name: 'v9' }
      t.equal((await as('bob', method, path + rest, body)).status, 403, `bob ${method} ${rest}`)
      t.equal((await as('anyone', method, path + rest, body)).status, 401)
    }
    await as('ada', 'POST', '/user/repos', { name: 'other', auto_init: true })
    for (const rest of [`/${id}`, '/tags/v1', `/${id}/assets`, '/0', '/x', '/-1', `/0${id}x`]) {
      const { status, json } = await as('ada', 'GET', `/repos/ada/other/releases${rest}`)
      t.equal(status, 404, rest)
      t.strictSame(json, NOT_FOUND)
    }
    t.equal((await as('ada', 'DELETE', `/repos/ada/other/releases/${id}`)).status, 404)

    await as('ada', 'PATCH', '/repos/ada/engine', { archived: true })
    for (const [method, rest] of [
      ['POST', ''],
      ['PATCH', `/${id}`],
      ['DELETE', `/${id}`],
    ] as const) {
      const body = method === 'DELETE' ? undefined : { tag_name: 'v9' }
      const { status, json } = await as('ada', method, path + rest, body)
      t.equal(status, 423, method)
      t.strictSame(json, refusal('repo is archived'))
    }
    t.equal((await as('ada', 'GET', `${path}/${id}`)).status, 200)
    await as('ada', 'PATCH', '/repos/ada/engine', { archived: false, has_releases: false })
    for (const rest of ['', '/latest', `/${id}`, '/tags/v1']) {
      t.equal((await as('ada', 'GET', path + rest)).status, 404, `disabled: ${rest}`)
    }
    t.equal((await as('ada', 'POST', path, { tag_name: 'v2' })).status, 404)
  },
)

t.test('a release is a draft while its tag is deleted by a push', async (t) => {
  const { as, cwd, port, path, release, listed, authorizationOf } = await startWorkspace(t)
  for (const name of ['v1', 'v2']) await release(name)
  await release('v3', { draft: true })
  const push = async (...references: readonly string[]) => {
    const header = `http.extraHeader=Authorization: ${authorizationOf('ada')}`
    const address = `http://127.0.0.1:${port}/ada/engine.git`
    await git(['-c', header, 'push', '--quiet', address, ...references], { cwd })
  }
  // Pushes are published after they are acknowledged.
  const seen = (...expected: readonly string[]) =>
    until(
      () => listed('bob'),
      (found) => found.join() === expected.join(),
      10_000,
    )
  const commit = await git(['rev-parse', 'main'], { cwd })
  await push(':refs/tags/v1', ':refs/tags/v2', `${commit}:refs/tags/other`)
  t.strictSame(await seen('0'), ['0'])
  t.strictSame(await listed('ada'), ['3', 'v3', 'v2', 'v1'])
  t.match((await as('ada', 'GET', `${path}?draft=true`)).json, [{ draft: true }, {}, {}])
  await push(`${commit}:refs/tags/v1`)
  t.strictSame(await seen('1', 'v1'), ['1', 'v1'])
  await push(`${commit}:refs/tags/v3`)
  const both = ['2', 'v3', 'v1']
  t.strictSame(await seen(...both), both, 'a push of its tag publishes a draft')
})
