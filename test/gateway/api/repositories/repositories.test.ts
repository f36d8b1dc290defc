/** Repositories over the API: created, listed, read, changed, renamed, deleted. */

import { existsSync } from 'node:fs'
import t from 'tap'
import { findUser, type User } from '../../../../sql/accounts/users.js'
import { onOneDatabase } from '../../../helpers/databases.js'
import { isExpected } from '../../../helpers/expected.js'
import { BASE_URL, startGateway } from '../../../helpers/gateway.js'
import {
  type Name,
  refusal,
  startGatewayWithUsers,
  visible,
} from '../../../helpers/gateway-with-users.js'
import { git } from '../../../helpers/git-client.js'
import { withToken } from '../../../helpers/requests.js'

type Fields = Record<string, unknown>

const AUTHOR = 'ada <ada@example.com> Initial commit'
const NOT_FOUND = refusal('not found')

await onOneDatabase(
  t,
  'a repository is created with every field of the API',
  async (t, location) => {
    const { as, pathOf } = await startGatewayWithUsers(t, { location })
    const created = await as('ada', 'POST', '/user/repos', { name: 'Engine' })
    t.equal(created.status, 201)
    isExpected(t, created.json, 'api/repository-created')
    const read = await as('ada', 'GET', '/repos/ada/Engine')
    t.equal(read.status, 200)
    t.strictSame(read.json, created.json, 'and reads as it was created')
    t.match((await as('bob', 'GET', '/repos/ada/Engine')).json, {
      permissions: { admin: false, push: false, pull: true },
    })
    t.match((await as('anyone', 'GET', '/repos/ADA/engine.git')).json, {
      full_name: 'ada/Engine',
      permissions: { admin: false, push: false, pull: true },
    })
    const branch = await git(['symbolic-ref', 'HEAD'], { cwd: await pathOf('ada', 'engine') })
    t.equal(branch, 'refs/heads/main')

    const all = {
      name: 'Full',
      description: 'näive ☃ 𝄞',
      private: true,
      template: true,
      default_branch: 'trunk',
      auto_init: true,
      readme: 'Default',
      trust_model: 'committer',
      object_format_name: 'sha256',
      gitignores: '',
      license: '',
      issue_labels: '',
    }
    const full = await as('ada', 'POST', '/user/repos', all)
    t.equal(full.status, 201, full.text)
    isExpected(t, full.json, 'api/repository-created-full')
    const folder = { cwd: await pathOf('ada', 'Full') }
    t.equal(await git(['rev-parse', '--show-object-format'], folder), 'sha256')
    t.match(await git(['show', 'trunk:README.md'], folder), /^# Full\n\nnäive ☃ 𝄞$/)
    t.equal(await git(['log', '-1', '--format=%an <%ae> %s', 'trunk'], folder), AUTHOR)
  },
)

await onOneDatabase(t, 'an invalid repository is refused with the reason', async (t, location) => {
  const { as, ask, addUser, addToken } = await startGatewayWithUsers(t, { location })
  const refused = async (body: unknown, status: number, message: string | RegExp) => {
    const answer = await as('ada', 'POST', '/user/repos', body)
    t.equal(answer.status, status, `${JSON.stringify(body).slice(0, 60)}: ${answer.text}`)
    t.match(answer.json, { message, url: `${BASE_URL}/api/swagger` })
  }
  await as('ada', 'POST', '/user/repos', { name: 'taken' })
  for (const name of ['taken', 'TAKEN']) {
    await refused({ name }, 409, 'The repository with the same name already exists.')
  }
  await refused({}, 422, '[Name]: Required')
  await refused('', 422, '[Name]: Required')
  await refused({ name: '' }, 422, '[Name]: Required')
  await refused({ name: null }, 422, /^\[Name\]: /)
  await refused({ name: ['x'] }, 422, /^\[Name\]: /)
  await refused({ name: 'x', private: 'true' }, 422, /^\[Private\]: /)
  await refused({ name: 'x', auto_init: 1 }, 422, /^\[AutoInit\]: /)
  await refused({ name: 'x', object_format_name: 'md5' }, 422, /^\[ObjectFormatName\]: /)
  await refused({ name: 'x'.repeat(101) }, 422, /^\[Name\]: /)
  await refused({ name: 'x', description: 'x'.repeat(2_049) }, 422, /^\[Description\]: /)
  for (const text of ['{"name":', 'null', '[]', '"x"', '{name: "x"}']) {
    await refused(text, 422, /^\[\w*\]: /)
  }
  for (const name of ['..', '.', '-', 'a/b', 'x.git', 'x.wiki', 'x.rss', 'x.atom', 'a b', 'ä']) {
    await refused({ name }, 422, /name/)
  }
  for (const default_branch of ['--upload-pack=x', 'a..b', 'a b', 'x.lock', 'HEAD', '@']) {
    await refused({ name: 'x', default_branch, auto_init: true }, 422, /branch/)
  }
  for (const field of ['gitignores', 'license', 'issue_labels', 'readme']) {
    await refused({ name: 'x', auto_init: true, [field]: 'Nope' }, 400, /There is no .*Nope/)
  }
  t.match(await as('ada', 'GET', '/user/repos'), { headers: { 'x-total-count': '1' } })

  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  const { plain } = await addToken(await addUser('eve'), 'write:repository')
  const posted = { method: 'POST', path: '/api/v1/user/repos', authorization: withToken(plain) }
  t.equal((await ask({ ...posted, body: 'name=form', headers: form })).status, 201)
  const enough = await ask({ ...posted, body: { name: 'x' } })
  t.equal(enough.status, 201, 'the scope write:repository is enough')
})

await onOneDatabase(
  t,
  'missing and private repositories give the same bytes',
  async (t, location) => {
    const { as } = await startGatewayWithUsers(t, { location })
    await as('ada', 'POST', '/user/repos', { name: 'secret', private: true })
    for (const [name, method, status] of [
      ['anyone', 'GET', 404] as const,
      ['bob', 'GET', 404] as const,
      ['anyone', 'PATCH', 401] as const,
      ['bob', 'PATCH', 404] as const,
      ['anyone', 'DELETE', 401] as const,
      ['bob', 'DELETE', 404] as const,
    ]) {
      const body = method === 'PATCH' ? { description: 'x' } : undefined
      const hidden = await as(name, method, '/repos/ada/secret', body)
      t.equal(hidden.status, status, `${name} ${method}`)
      if (status === 404) t.strictSame(hidden.json, NOT_FOUND)
      for (const path of ['/repos/ada/absent', '/repos/nobody/secret', '/repos/bob/secret']) {
        const missing = await as(name, method, path, body)
        t.strictSame(visible(missing), visible(hidden), `${name} ${method} ${path}`)
      }
    }
    t.equal(
      (await as('root', 'GET', '/repos/ada/secret')).status,
      200,
      'a site administrator sees it',
    )
  },
)

await onOneDatabase(t, 'a list has pages', async (t, location) => {
  const { as, ask } = await startGatewayWithUsers(t, { location })
  for (let n = 1; n <= 7; n += 1) {
    await as('ada', 'POST', '/user/repos', { name: `r${n}`, private: n % 2 === 0 })
  }
  const page = async (query: string) => {
    const { status, headers, json, text } = await as('ada', 'GET', `/user/repos${query}`)
    t.equal(status, 200, `${query} ${text.slice(0, 100)}`)
    t.equal(headers['x-total-count'], '7')
    t.equal(headers['access-control-expose-headers'], 'X-Total-Count, Link')
    const names = (json as Fields[]).map(({ name }) => String(name)).join(' ')
    const links = headers['link']?.toString().replaceAll(`${BASE_URL}/api/v1/user/repos`, '')
    return { names, links }
  }
  const all = 'r1 r2 r3 r4 r5 r6 r7'
  const link = (number: number, relation: string) => `<?limit=3&page=${number}>; rel="${relation}"`
  t.strictSame(await page(''), { names: all, links: undefined }, 'a single page has no links')
  t.strictSame(await page('?limit=3'), {
    names: 'r1 r2 r3',
    links: `${link(2, 'next')},${link(3, 'last')}`,
  })
  t.strictSame(await page('?page=2&limit=3'), {
    names: 'r4 r5 r6',
    links: [link(3, 'next'), link(3, 'last'), link(1, 'first'), link(1, 'prev')].join(','),
  })
  t.strictSame(await page('?limit=3&page=3'), {
    names: 'r7',
    links: `${link(1, 'first')},${link(2, 'prev')}`,
  })
  t.equal((await page('?limit=3&page=9')).names, '', 'a page beyond the end is empty')
  for (const query of ['?page=0', '?page=-1', '?page=x', '?page=', '?limit=0', '?limit=-5']) {
    t.equal((await page(query)).names, all, query)
  }
  for (const query of ['?limit=x', '?limit=51', '?limit=999999999999999', '?page=1&page=9']) {
    t.equal((await page(query)).names, all, query)
  }
  for (const number of ['2147483648', '999999999999999', '99999999999999999999']) {
    const far = await ask({ path: `/api/v1/user/repos?page=${number}` })
    t.equal(far.status, 401)
    t.equal((await as('ada', 'GET', `/user/repos?page=${number}&limit=50`)).status, 200, number)
  }
})

await onOneDatabase(t, 'a page has at most fifty entries', async (t, location) => {
  const { as, db } = await startGatewayWithUsers(t, { location })
  await as('ada', 'POST', '/user/repos', { name: 'r' })
  const [row] = await db('repositories').select('*')
  const more = Array.from({ length: 54 }, (_, n) => {
    const storage = n.toString(16).padStart(32, '0')
    return { ...row, id: undefined, name: `r${n}`, name_lower: `r${n}`, storage, is_empty: false }
  }).map(({ id: _, ...rest }) => rest)
  await db.batchInsert('repositories', more)
  const lengthOf = async (query: string) => {
    const answer = await as('ada', 'GET', `/user/repos${query}`)
    return (answer.json as unknown[]).length
  }
  t.equal(await lengthOf(''), 30)
  t.equal(await lengthOf('?limit=100'), 50)
  t.equal(await lengthOf('?limit=50&page=2'), 5)
})

await onOneDatabase(t, 'only the given fields of a repository are changed', async (t, location) => {
  const { as, pathOf } = await startGatewayWithUsers(t, { location })
  await as('ada', 'POST', '/user/repos', { name: 'one', description: 'd', auto_init: true })
  await as('ada', 'POST', '/user/repos', { name: 'other' })
  const edit = (body: unknown, name: Name = 'ada') => as(name, 'PATCH', '/repos/ada/one', body)
  const before = (await as('ada', 'GET', '/repos/ada/one')).json as Fields
  const changed = await edit({ website: 'https://example.com', has_issues: false })
  t.equal(changed.status, 200)
  const { updated_at: _, ...rest } = before
  t.match(changed.json, { ...rest, website: 'https://example.com', has_issues: false })
  t.match((await edit({})).json, { website: 'https://example.com', has_issues: false })
  t.match((await edit({ default_merge_style: 'squash' })).json, { has_issues: false })
  t.equal((await edit({ default_merge_style: 'x'.repeat(100_000) })).status, 422)
  t.equal((await edit({ name: 'Other' })).status, 409)
  t.equal((await edit({ name: 'a/b' })).status, 422)
  t.equal((await edit({ default_branch: 'absent' })).status, 422)
  t.equal((await edit({ default_branch: '--help' })).status, 422)
  t.equal((await edit({ description: 'x' }, 'bob')).status, 403)
  t.equal((await edit({ description: 'x' }, 'anyone')).status, 401)
  t.match((await as('ada', 'GET', '/repos/ada/one')).json, { description: 'd' })

  const folder = { cwd: await pathOf('ada', 'one') }
  await git(['branch', 'next', 'main'], folder)
  t.match((await edit({ default_branch: 'next' })).json, { default_branch: 'next' })
  t.equal(await git(['symbolic-ref', 'HEAD'], folder), 'refs/heads/next')

  t.equal(before['archived'], false)
  t.equal(before['archived_at'], '1970-01-01T00:00:00Z')
  const archived = (await edit({ archived: true })).json as Fields
  t.equal(archived['archived'], true)
  const archivedAtMs = Date.parse(String(archived['archived_at']))
  t.ok(Math.abs(Date.now() - archivedAtMs) < 60_000, 'with the time of archiving')
  t.match((await edit({ archived: false })).json, {
    archived: false,
    archived_at: '1970-01-01T00:00:00Z',
  })
  t.match((await edit({ private: true, template: true })).json, { private: true, template: true })
  t.equal(
    (await as('bob', 'GET', '/repos/ada/one')).status,
    404,
    'private visibility applies immediately',
  )
})

t.test('a repository has Actions if it enables them and the site permits them', async (t) => {
  const { as, settings, db } = await startGatewayWithUsers(t)
  const made = await as('ada', 'POST', '/user/repos', { name: 'r', auto_init: true })
  t.match(made.json, { has_actions: false })
  const enabled = await as('ada', 'PATCH', '/repos/ada/r', { has_actions: true })
  t.match(enabled, { status: 200, json: { has_actions: true } })
  t.match((await as('ada', 'PATCH', '/repos/ada/r', { website: 'x' })).json, { has_actions: true })

  const { file } = settings.database.location as { readonly file: string }
  const without = await startGateway(t, {
    location: { kind: 'sqlite', file },
    environment: { GATEHOUSE_ACTIONS_ENABLED: 'false' },
  })
  const ada = await findUser(db, 'ada')
  const { plain } = await without.addToken(ada as User, 'all')
  const ask = (method: string, body?: object) =>
    without.ask({ method, path: '/api/v1/repos/ada/r', body, authorization: withToken(plain) })
  t.match((await ask('GET')).json, { has_actions: false })
  const refused = await ask('PATCH', { has_actions: true, website: 'y' })
  t.match(refused, { status: 422, json: { message: /actions\.enabled is false/ } })
  t.match((await ask('PATCH', { has_actions: false })).json, { has_actions: false, website: 'x' })
})

await onOneDatabase(t, 'a renamed repository is found at its old name', async (t, location) => {
  const { as } = await startGatewayWithUsers(t, { location })
  await as('ada', 'POST', '/user/repos', { name: 'old', private: true })
  const renamed = await as('ada', 'PATCH', '/repos/ada/old', { name: 'New' })
  t.match(renamed.json, { name: 'New', full_name: 'ada/New', html_url: `${BASE_URL}/ada/New` })
  for (const method of ['GET', 'PATCH', 'DELETE', 'HEAD']) {
    const body = method === 'PATCH' ? { description: 'x' } : undefined
    const moved = await as('ada', method, '/repos/ADA/OLD?a=b%20c', body)
    t.equal(moved.status, 307, method)
    t.equal(moved.headers.location, `${BASE_URL}/api/v1/repos/ada/New?a=b%20c`)
  }
  t.equal((await as('bob', 'GET', '/repos/ada/old')).status, 404, 'not by users without access')
  t.match((await as('ada', 'GET', '/repos/ada/New')).json, { description: '' })
  await as('ada', 'POST', '/user/repos', { name: 'old' })
  t.match(await as('ada', 'GET', '/repos/ada/old'), { status: 200, json: { name: 'old' } })
  t.match((await as('ada', 'PATCH', '/repos/ada/new', { name: 'NEW' })).json, { name: 'NEW' })
  t.equal(
    (await as('ada', 'GET', '/repos/ada/New')).status,
    200,
    'a change of case is not a new name',
  )
})

await onOneDatabase(t, 'a repository is deleted with its folder', async (t, location) => {
  const { as, pathOf } = await startGatewayWithUsers(t, { location })
  await as('ada', 'POST', '/user/repos', { name: 'gone', auto_init: true })
  const path = await pathOf('ada', 'gone')
  t.equal(existsSync(path), true)
  t.equal((await as('bob', 'DELETE', '/repos/ada/gone')).status, 403)
  const removed = await as('ada', 'DELETE', '/repos/ada/gone')
  t.equal(removed.status, 204)
  t.equal(removed.text, '')
  t.notOk('content-length' in removed.headers)
  t.equal(existsSync(path), false)
  t.equal((await as('ada', 'GET', '/repos/ada/gone')).status, 404)
  t.equal((await as('ada', 'DELETE', '/repos/ada/gone')).status, 404)
  t.equal((await as('ada', 'POST', '/user/repos', { name: 'gone' })).status, 201)
})
