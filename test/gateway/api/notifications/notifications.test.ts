/** Notifications over the API: recipients, and states of a thread. */

import t, { type Test } from 'tap'
import type { DatabaseLocation } from '../../../../conf/database-location.js'
import { forEachDatabase, onOneDatabase } from '../../../helpers/databases.js'
import { BASE_URL } from '../../../helpers/gateway.js'
import { startGatewayWithUsers } from '../../../helpers/gateway-with-users.js'
import { untilAllAreNotified } from '../../../helpers/notified.js'
import { withToken } from '../../../helpers/requests.js'

interface Thread {
  readonly id: number
  readonly unread: boolean
  readonly pinned: boolean
  readonly subject: { readonly title: string; readonly type: string; readonly state: string }
  readonly repository: { readonly full_name: string }
}

async function startFixture(t: Test, location: DatabaseLocation) {
  const gateway = await startGatewayWithUsers(t, { location })
  await gateway.as('ada', 'POST', '/user/repos', { name: 'r', auto_init: true })
  const { as } = gateway
  type Someone = Parameters<typeof as>[0]
  const of = (name: Someone, method: string, path: string, body?: object) =>
    as(name, method, `/repos/ada/r${path}`, body)
  /** Returns a user's threads after all notifications have been delivered. */
  const threads = async (name: Someone, query = '') => {
    await untilAllAreNotified(gateway)
    return (await as(name, 'GET', `/notifications${query}`)).json as readonly Thread[]
  }
  const titles = async (name: Someone, query = '') =>
    (await threads(name, query)).map(({ subject }) => subject.title)
  const read = async (name: Someone) => {
    await untilAllAreNotified(gateway)
    return await as(name, 'PUT', '/notifications')
  }
  return { ...gateway, of, threads, titles, read }
}

await onOneDatabase(
  t,
  'participants, watchers and mentioned users are notified',
  async (t, location) => {
    const { addUser, addToken, ask, of, titles, read } = await startFixture(t, location)
    const eve = withToken((await addToken(await addUser('eve'), 'all')).plain)
    const eves = async () =>
      ((await ask({ path: '/api/v1/notifications', authorization: eve })).json as Thread[]).length

    await of('bob', 'POST', '/issues', { title: 'one' })
    t.strictSame(await titles('ada'), ['one'], 'a watcher')
    t.strictSame(await titles('bob'), [], 'not the actor')
    t.equal(await eves(), 0)
    await of('ada', 'POST', '/issues', { title: 'two', body: 'Hello @BOB, and @ada.' })
    t.strictSame(await titles('bob'), ['two'], 'a mentioned user')
    t.strictSame(await titles('ada'), ['one'])
    await read('ada')
    await of('root', 'POST', '/issues/1/comments', { body: 'As @eve says, ada@bob.example fails.' })
    t.strictSame(await titles('bob'), ['one', 'two'], 'the author of the issue')
    t.equal(await eves(), 1)
    await Promise.all([read('bob'), read('ada'), read('root')])
    await of('ada', 'PATCH', '/issues/1', { state: 'closed' })
    t.strictSame([await titles('bob'), await titles('root')], [['one'], ['one']], 'a commenter')
    await Promise.all([read('bob'), read('root')])
    await of('ada', 'PATCH', '/issues/1', { title: 'better', body: 'worded' })
    t.strictSame(
      [await titles('bob'), await titles('root')],
      [[], []],
      'a changed title notifies nobody',
    )

    await of('ada', 'PUT', '/collaborators/bob', { permission: 'write' })
    await of('root', 'PUT', '/subscription')
    await of('ada', 'PATCH', '/issues/1', { assignees: ['bob'] })
    t.strictSame([await titles('bob'), await titles('root')], [['better'], []], 'the assignee')
    await of('root', 'DELETE', '/subscription')
    await of('root', 'PUT', '/issues/1/subscriptions/root')
    t.equal((await of('root', 'DELETE', '/issues/1/subscriptions/root')).status, 201)
    await of('bob', 'POST', '/issues/1/comments', { body: 'Done.' })
    t.strictSame(await titles('root'), [], 'an unsubscribed user is not notified')

    const release = { tag_name: 'v1/a b', name: '', body: 'Thanks, @root', draft: true }
    await of('ada', 'POST', '/releases', { ...release, tag_name: 'v1' })
    t.strictSame(await titles('root'), [], 'a draft release notifies nobody')
    await of('ada', 'PATCH', '/releases/1', { draft: false })
    t.match(await titles('root'), ['v1'])
    t.notOk((await titles('ada')).includes('v1'))
  },
)

await forEachDatabase(t, 'a thread is read, pinned and marked unread', async (t, location) => {
  const { as, ask, addToken, ada, of, threads, titles, read } = await startFixture(t, location)
  await of('bob', 'POST', '/issues', { title: 'one' })
  const [thread] = await threads('ada')
  const id = thread?.id ?? 0
  const path = `/notifications/threads/${id}`
  const url = `${BASE_URL}/api/v1/repos/ada/r`
  const subject = {
    title: 'one',
    type: 'Issue',
    state: 'open',
    url: `${url}/issues/1`,
    html_url: `${BASE_URL}/ada/r/issues/1`,
    latest_comment_url: '',
  }
  t.match(await as('ada', 'GET', path), {
    status: 200,
    json: {
      id,
      unread: true,
      pinned: false,
      subject,
      url: `${BASE_URL}/api/v1${path}`,
      repository: { full_name: 'ada/r', permissions: { admin: true } },
    },
  })
  for (const name of ['bob', 'root'] as const) {
    t.equal((await as(name, 'GET', path)).status, 404, 'the thread belongs to ada')
    t.equal((await as(name, 'PATCH', path)).status, 404)
  }
  t.match((await as('ada', 'GET', '/notifications/new')).json, { new: 1 })
  const readOne = await as('ada', 'PATCH', path)
  t.match(readOne, { status: 205, json: { id, unread: false, pinned: false } })
  t.match((await as('ada', 'GET', '/notifications/new')).json, { new: 0 })
  t.strictSame(await titles('ada'), [])
  t.strictSame(await titles('ada', '?status-types=read'), ['one'])
  t.strictSame(await titles('ada', '?all=true'), ['one'])

  const said = await of('bob', 'POST', '/issues/1/comments', { body: 'And?' })
  const { id: commentId } = said.json as { id: number }
  const [again] = await threads('ada')
  t.match(again, { id, unread: true }, 'the same thread')
  t.match(again?.subject, {
    latest_comment_url: `${url}/issues/comments/${commentId}`,
    latest_comment_html_url: `${BASE_URL}/ada/r/issues/1#issuecomment-${commentId}`,
  })
  t.match((await as('ada', 'PATCH', `${path}?to-status=pinned`)).json, { pinned: true })
  await of('bob', 'POST', '/issues/1/comments', { body: 'And now?' })
  t.match(await threads('ada'), [{ pinned: true, unread: false }], 'it stays pinned')
  t.strictSame(await titles('ada', '?status-types=unread'), [])
  t.strictSame(await titles('ada', '?status-types=unread&status-types=pinned'), ['one'])

  await of('bob', 'POST', '/issues', { title: 'two' })
  await as('ada', 'POST', '/user/repos', { name: 'other' })
  await as('bob', 'POST', '/repos/ada/other/issues', { title: 'three' })
  t.strictSame(await titles('ada'), ['three', 'two', 'one'])
  t.strictSame(await titles('ada', '?subject-type=pull&subject-type=commit'), [])
  t.strictSame(await titles('ada', '?subject-type=issue,pull&page=2&limit=2'), ['one'])
  t.strictSame(await titles('ada', '?before=2020-01-01T00:00:00Z'), [])
  t.strictSame(await titles('ada', '?since=2999-01-01T00:00:00Z'), [])
  t.equal((await as('ada', 'GET', '/notifications?since=yesterday')).status, 422)
  const page = await as(
    'ada',
    'GET',
    '/notifications?limit=1&status-types=unread&status-types=pinned',
  )
  t.equal(page.headers['x-total-count'], '3')
  t.match(page.headers.link, /status-types=unread%2Cpinned&limit=1&page=2>; rel="next"/)
  t.match((await of('ada', 'GET', '/notifications')).json, [
    { subject: { title: 'two' } },
    { subject: { title: 'one' } },
  ])
  const early = '/notifications?last_read_at=2020-01-01T00:00:00Z'
  t.match(await as('ada', 'PUT', early), { status: 205, json: [] })
  const ofRepository = await of('ada', 'PUT', '/notifications')
  t.match(ofRepository, { status: 205, json: [{ unread: false, subject: { title: 'two' } }] })
  t.strictSame(await titles('ada'), ['three', 'one'])
  t.match((await as('ada', 'PUT', '/notifications?all=true&to-status=unread')).json, [
    { unread: true },
    { unread: true },
    { unread: true },
  ])
  t.match((await read('ada')).json, [{ unread: false }, { unread: false }, { unread: false }])
  t.strictSame(await titles('ada'), [])

  const { plain } = await addToken(ada, 'read:notification')
  const limited = { path: `/api/v1${path}`, authorization: withToken(plain) }
  t.equal((await ask(limited)).status, 200)
  t.equal((await ask({ ...limited, method: 'PATCH' })).status, 401)
})

await forEachDatabase(
  t,
  'users who can accept a pending transfer are notified until it ends',
  async (t, location) => {
    const { as, threads, titles, addUser } = await startFixture(t, location)
    await addUser('eve')
    await as('ada', 'POST', '/user/repos', { name: 'shut', private: true })
    const move = (newOwner: string) =>
      as('ada', 'POST', '/repos/ada/shut/transfer', { new_owner: newOwner })
    t.equal((await move('bob')).status, 201)
    const subject = {
      type: 'Repository',
      title: 'ada/shut',
      state: '',
      url: `${BASE_URL}/api/v1/repos/ada/shut`,
      html_url: `${BASE_URL}/ada/shut`,
    }
    t.match(await threads('bob', '?subject-type=repository'), [
      { unread: true, subject, repository: { full_name: 'ada/shut' } },
    ])
    t.strictSame(await titles('bob', '?subject-type=issue,pull,commit'), [])
    t.strictSame([await titles('ada'), await titles('root')], [[], []])
    await as('bob', 'POST', '/repos/ada/shut/transfer/reject')
    t.strictSame(await titles('bob', '?all=true'), [], 'a rejected transfer')

    await as('bob', 'POST', '/orgs', { username: 'club' })
    t.equal((await move('club')).status, 201)
    t.strictSame(await titles('bob'), ['ada/shut'], 'an owner of the organization')
    await as('bob', 'POST', '/repos/ada/shut/transfer/accept')
    t.strictSame(await titles('bob', '?all=true'), [], 'an accepted transfer')
  },
)

await onOneDatabase(
  t,
  'a thread of a repository that the user cannot read any more is hidden',
  async (t, location) => {
    const { as, db, of, threads, titles } = await startFixture(t, location)
    await of('bob', 'PUT', '/subscription')
    await of('bob', 'POST', '/issues', { title: 'one' })
    await of('ada', 'POST', '/issues/1/comments', { body: 'Yes.' })
    const [thread] = await threads('bob')
    t.ok(thread)
    await as('ada', 'PATCH', '/repos/ada/r', { private: true })
    t.strictSame(await titles('bob', '?all=true'), [])
    t.match((await as('bob', 'GET', '/notifications/new')).json, { new: 0 })
    t.equal((await as('bob', 'GET', `/notifications/threads/${thread?.id}`)).status, 404)
    t.equal((await of('bob', 'GET', '/notifications')).status, 404)
    await of('ada', 'POST', '/issues', { title: 'secret @bob' })
    await of('ada', 'POST', '/issues/1/comments', { body: 'Still.' })
    await threads('ada')
    const rows = async () => (await db('notifications').select('id')).length
    t.equal(await rows(), 2, "ada's, and bob's earlier one")
    await as('ada', 'PUT', '/repos/ada/r/collaborators/bob', { permission: 'read' })
    t.strictSame(await titles('bob'), ['one'])
    await as('ada', 'PATCH', '/repos/ada/r', { has_issues: false })
    t.strictSame(await titles('bob'), [], 'issues are disabled')
    await as('ada', 'PATCH', '/repos/ada/r', { has_issues: true, name: 'renamed' })
    t.match(await threads('bob'), [{ repository: { full_name: 'ada/renamed' } }])
    await as('root', 'DELETE', '/admin/users/bob?purge=true')
    t.equal(await rows(), 1)
    await as('ada', 'DELETE', '/repos/ada/renamed')
    t.equal(await rows(), 0)
  },
)
