/** Pages of issues: visibility, permissions, and the same effects as over the API. */

import t, { type Test } from 'tap'
import { createPull } from '../../../../sql/pulls/pulls.js'
import { findRepository } from '../../../../sql/repositories/repositories.js'
import { aWebhook, listDeliveredPayloads } from '../../../helpers/deliveries.js'
import { type Name, startGatewayWithUsers } from '../../../helpers/gateway-with-users.js'
import { untilAllAreNotified } from '../../../helpers/notified.js'
import { seeRendered } from '../../../helpers/web-forms.js'

/** Starts a gateway with the public repository ada/r and users with browser sessions. */
async function openBrowsers(t: Test) {
  const gateway = await startGatewayWithUsers(t)
  const cookies = new Map<string, string>()
  const send = (name: Name, path: string, fields: Record<string, string>) =>
    gateway.ask({
      method: 'POST',
      path,
      body: new URLSearchParams(fields).toString(),
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        ...(name === 'anyone' ? {} : { cookie: cookies.get(name) ?? '' }),
      },
    })
  for (const name of ['ada', 'bob'] as const) {
    const fields = { user_name: name, password: `password of ${name}` }
    const { headers } = await send('anyone', '/user/login', fields)
    cookies.set(name, String(headers['set-cookie']).split(';')[0] ?? '')
  }
  const see = (name: Name, path: string) =>
    gateway.ask({ path, headers: { cookie: cookies.get(name) ?? '' } })
  await gateway.as('ada', 'POST', '/user/repos', { name: 'r' })
  return { ...gateway, send, see }
}

const NEW = '/ada/r/issues/new'
const ONE = '/ada/r/issues/1'
const COMMENTS = `${ONE}/comments`

t.test('an issue is opened, commented, closed and reopened, with all its events', async (t) => {
  const { ada, db, as, see, send } = await openBrowsers(t)
  const repository = await findRepository(db, 'ada', 'r')
  await aWebhook(db, { repositoryId: repository?.id ?? 0 })
  t.equal((await see('anyone', NEW)).headers.location?.includes('/user/login?'), true)
  t.match((await see('bob', NEW)).text, /<label for="title">Title<\/label>/)
  const empty = await send('bob', NEW, { title: ' ', content: 'a <b> text' })
  t.equal(empty.status, 422)
  t.match(empty.text, /role="alert".*a &lt;b> text/s, 'the input is kept')
  const made = await send('bob', NEW, { title: 'It <leaks>', content: 'first\r\nsecond\n# Head' })
  t.equal(made.headers.location, ONE)
  const said = await send('ada', COMMENTS, { content: 'I see **that**.' })
  t.match(said.headers.location, /\/ada\/r\/issues\/1#issuecomment-\d+$/)
  t.equal((await send('bob', COMMENTS, { content: ' ' })).status, 422)
  const page = await seeRendered(() => see('anyone', ONE))
  t.match(page.text, /<h2>It &lt;leaks> <span class="quiet">#1<\/span><\/h2>/)
  t.match(page.text, /first<br \/>\s*second/)
  t.match(page.text, /<h3>Head<\/h3>/, 'below the heading of the issue')
  t.match(page.text, /I see <strong>that<\/strong>/)
  t.match(page.text, /<a href="[^"]*redirect_to=%2Fada%2Fr%2Fissues%2F1">Sign in<\/a>/)
  const closed = await send('bob', COMMENTS, { content: 'Gone.', state: 'closed' })
  t.equal(closed.status, 303)
  t.match((await as('ada', 'GET', '/repos/ada/r/issues/1')).json, { state: 'closed', comments: 2 })
  t.notMatch((await see('bob', '/ada/r/issues')).text, /It &lt;leaks>/)
  t.match((await see('bob', '/ada/r/issues?state=closed')).text, /It &lt;leaks>.*2 comments/s)
  t.equal((await send('ada', COMMENTS, { content: '', state: 'open' })).status, 303)
  t.match((await see('bob', '/ada/r/issues')).text, /It &lt;leaks>/)
  const told = (await listDeliveredPayloads(db)).map(({ event, payload }) => [
    event,
    payload['action'],
  ])
  t.strictSame(told, [
    ['issues', 'opened'],
    ['issue_comment', 'created'],
    ['issue_comment', 'created'],
    ['issues', 'closed'],
    ['issues', 'reopened'],
  ])
  await untilAllAreNotified({ db })
  t.match((await as('ada', 'GET', '/notifications')).json, [{ subject: { title: 'It <leaks>' } }])
  t.match((await see('bob', `/${ada.name}/r`)).text, /href="[^"]*\/ada\/r\/issues"/)
})

t.test(
  'pages of locked, archived, disabled and private issues refuse what the API refuses',
  async (t) => {
    const { as, see, send } = await openBrowsers(t)
    await as('ada', 'POST', '/repos/ada/r/issues', { title: 'Mine' })
    t.equal((await send('anyone', COMMENTS, { content: 'x' })).status, 401)
    t.equal((await send('anyone', NEW, { title: 'x' })).status, 401)
    const closing = await send('bob', COMMENTS, { content: '', state: 'closed' })
    t.equal(closing.status, 403, 'neither its author nor a writer')
    t.notMatch((await see('bob', ONE)).text, /Close issue/)
    t.match((await see('ada', ONE)).text, /Close issue/)
    await as('ada', 'PUT', '/repos/ada/r/issues/1/lock', {})
    const locked = await send('bob', COMMENTS, { content: 'still <here>' })
    t.equal(locked.status, 403)
    t.match(locked.text, /role="alert">The conversation is locked/)
    t.notMatch((await see('bob', ONE)).text, /<textarea/)
    t.match((await see('ada', ONE)).text, /<textarea/)
    t.equal((await send('ada', COMMENTS, { content: 'I may.' })).status, 303)
    for (const path of ['/ada/r/issues/2', '/ada/r/issues/x', '/ada/none/issues']) {
      t.equal((await see('ada', path)).status, 404, path)
    }
    await as('ada', 'PATCH', '/repos/ada/r', { archived: true })
    t.equal((await send('ada', COMMENTS, { content: 'x' })).status, 423)
    t.equal((await send('ada', NEW, { title: 'x' })).status, 423)
    t.equal((await see('ada', NEW)).status, 423)
    t.notMatch((await see('ada', ONE)).text, /<textarea|Close issue/)
    await as('ada', 'PATCH', '/repos/ada/r', { archived: false, has_issues: false })
    for (const path of ['/ada/r/issues', ONE, NEW]) {
      t.equal((await see('ada', path)).status, 404, path)
    }
    t.equal((await send('ada', NEW, { title: 'x' })).status, 404)
    t.notMatch((await see('ada', '/ada/r')).text, /\/ada\/r\/issues"/)
    await as('ada', 'PATCH', '/repos/ada/r', { has_issues: true, private: true })
    for (const path of ['/ada/r/issues', ONE, NEW]) {
      t.equal((await see('bob', path)).status, 404, path)
    }
    t.equal((await send('bob', COMMENTS, { content: 'x' })).status, 404)
    t.match((await as('ada', 'GET', '/repos/ada/r/issues/1')).json, { state: 'open', comments: 1 })
  },
)

t.test('labels, assignees and milestones are shown, and hidden users are not', async (t) => {
  const { db, ada, as, see, send } = await openBrowsers(t)
  const label = { name: 'urgent', color: '#ff0000', description: 'now' }
  const { json } = await as('ada', 'POST', '/repos/ada/r/labels', label)
  await as('ada', 'POST', '/repos/ada/r/milestones', { title: 'One dot oh' })
  await as('ada', 'POST', '/repos/ada/r/issues', {
    title: 'Tied',
    labels: [(json as { id: number }).id],
    milestone: 1,
    assignees: ['ada'],
    due_date: '2030-01-02T00:00:00Z',
  })
  await send('bob', COMMENTS, { content: 'hidden soon' })
  const { text } = await see('anyone', ONE)
  t.match(text, /<circle cx="5" cy="5" r="5" fill="#ff0000">/)
  t.match(text, /title="now".*urgent.*Assignees.*One dot oh.*2030-01-02/s)
  t.notMatch(text, / style=/)
  t.match((await see('anyone', '/ada/r/issues')).text, /fill="#ff0000".*urgent/s)
  t.match(text, /href="[^"]*\/bob"/)
  await db('owners').where({ name: 'bob' }).update({ visibility: 'private' })
  const hidden = await see('anyone', ONE)
  t.notMatch(hidden.text, /\/bob"/)
  t.match(hidden.text, /Ghost/)
  const repository = await findRepository(db, 'ada', 'r')
  const repositoryId = repository?.id ?? 0
  const issue = { repositoryId, isPull: true, title: 'A pull', content: '', authorId: ada.id }
  await createPull(db, {
    issue,
    targets: { repositoryId, headRepositoryId: repositoryId, headBranch: 'x', baseBranch: 'main' },
    headCommit: '1'.repeat(40),
    mergeBase: '2'.repeat(40),
    allowsMaintainerEdit: false,
  })
  const led = await see('anyone', '/ada/r/issues/2')
  t.equal(led.status, 303)
  t.equal(led.headers.location, '/ada/r/pulls/2')
  const back = await see('anyone', '/ada/r/pulls/1')
  t.strictSame([back.status, back.headers.location], [303, ONE])
  t.equal((await send('ada', '/ada/r/issues/2/comments', { content: 'x' })).status, 404)
})

t.test('lists and long conversations have pages', async (t) => {
  const { db, as, bob, see, send } = await openBrowsers(t)
  for (let count = 1; count <= 31; count += 1) {
    await as('ada', 'POST', '/repos/ada/r/issues', { title: `number ${count}.` })
  }
  await as('ada', 'PATCH', '/repos/ada/r/issues/31', { state: 'closed' })
  const first = await see('ada', '/ada/r/issues')
  t.match(first.text, /number 30\./)
  t.match(first.text, /number 1\./)
  t.notMatch(first.text, /aria-label="Pages"/)
  await as('ada', 'PATCH', '/repos/ada/r/issues/31', { state: 'open' })
  t.match((await see('ada', '/ada/r/issues')).text, /issues\?page=2">Older/)
  t.match((await see('ada', '/ada/r/issues?page=2')).text, /number 1\./)
  const times = { created_at: 1, updated_at: 1 }
  const row = { issue_id: 1, author_id: bob.id, ...times }
  const rows = Array.from({ length: 50 }, (_, at) => ({ ...row, content: `word ${at + 1}.` }))
  await db('comments').insert(rows)
  const { headers } = await send('ada', COMMENTS, { content: 'the last word' })
  t.match(headers.location, /\/issues\/1\?page=2#issuecomment-51$/)
  t.match((await see('ada', ONE)).text, /word 1\..*word 50\..*\?page=2">Newer/s)
  const second = await see('ada', `${ONE}?page=2`)
  t.match(second.text, /the last word/)
  t.notMatch(second.text, /word 50\./)
  const long = `**${'x'.repeat(262_143)}`
  await send('ada', COMMENTS, { content: long })
  const { text } = await see('ada', `${ONE}?page=2`)
  t.match(text, /<pre tabindex="0">\*\*x{65534}<\/pre>/, 'a text that is too long is not rendered')
  t.match(text, 'This text is shown as plain text: it is too long to render.')
  t.match(text, /text is too long:.*the last word|the last word.*text is too long:/s)
})

t.test('the page shows attachments, events, dependencies and pins', async (t) => {
  const { as, ask, authorizationOf, see } = await openBrowsers(t)
  const issues = '/repos/ada/r/issues'
  for (const title of ['one', 'two', 'three']) await as('ada', 'POST', issues, { title })
  await as('ada', 'POST', '/user/repos', { name: 'secret', private: true })
  await as('ada', 'POST', '/repos/ada/secret/issues', { title: 'Hidden <i>, about ada/r#1' })
  const said = await as('ada', 'POST', `${issues}/1/comments`, { body: 'with a file' })
  const { id } = said.json as { id: number }
  const path = `/api/v1${issues}/comments/${id}/assets?name=log%20of%20ada.txt`
  const body = Buffer.from('bytes')
  const added = await ask({ method: 'POST', path, body, authorization: authorizationOf('ada') })
  const { uuid } = added.json as { uuid: string }
  const { id: bug } = (
    await as('ada', 'POST', '/repos/ada/r/labels', { name: 'bug', color: 'aaa' })
  ).json as { id: number }
  await as('ada', 'POST', `${issues}/1/labels`, { labels: [bug] })
  await as('ada', 'DELETE', `${issues}/1/labels/${bug}`)
  await as('ada', 'PATCH', `${issues}/1`, { title: 'first <b>', assignees: ['ada'] })
  await as('ada', 'POST', `${issues}/1/dependencies`, { index: 2 })
  await as('ada', 'POST', `${issues}/1/dependencies`, { index: 1, owner: 'ada', repo: 'secret' })
  await as('ada', 'POST', `${issues}/1/pin`)
  await as('ada', 'POST', `${issues}/1/times`, { time: 3_600 })
  const page = (await see('bob', ONE)).text
  for (const shown of [
    new RegExp(`href="/attachments/${uuid}"[^>]*>log of ada\\.txt`),
    /removed the label <span class="label"/,
    /changed the title from one to first &lt;b>/,
    /assigned <a class="strong" href="[^"]*\/ada"/,
    /Depends on<\/dt><dd><a href="[^"]*\/ada\/r\/issues\/2">ada\/r#2<\/a> two \(open\)/,
    /class="label">pinned/,
    /pinned this/,
    /spent 1 hour on this/,
  ]) {
    t.match(page, shown)
  }
  t.notMatch(page, 'Hidden')
  t.match(
    (await see('ada', ONE)).text,
    /referred to this in <a [^>]*>ada\/secret#1<\/a> Hidden &lt;i>/,
  )
  t.match((await see('bob', '/ada/r/issues/2')).text, /Blocks<\/dt><dd><a [^>]*>ada\/r#1</)
  t.match((await see('bob', '/ada/r/issues')).text, /Pinned<\/h3>.*first &lt;b>.*three/s)
})

t.test(
  'dependencies, pins and times are changed on the page by whom the API permits',
  async (t) => {
    const { as, see, send } = await openBrowsers(t)
    for (const title of ['First', 'Second'])
      await as('bob', 'POST', '/repos/ada/r/issues', { title })
    await as('bob', 'POST', '/user/repos', { name: 'secret', private: true })
    await as('bob', 'POST', '/repos/bob/secret/issues', { title: 'Hidden' })
    const own = '/repos/ada/r/issues/1'
    const change = (path: string, fields = {}, name: Name = 'ada') =>
      send(name, `${ONE}/${path}`, fields)

    const added = await change('dependencies', { side: 'dependencies', issue: '#2' })
    t.equal(added.headers.location, ONE)
    t.match((await as('ada', 'GET', `${own}/dependencies`)).json, [{ number: 2 }])
    t.match((await see('ada', ONE)).text, /aria-label="Remove: Depends on ada\/r#2"/)
    t.equal((await change('dependencies', { issue: '2' })).status, 409)
    const odd = await change('dependencies', { issue: 'x' })
    t.equal(odd.status, 422)
    t.match(odd.text, /role="alert">&quot;x&quot; is no issue/)
    const [hidden, missing] = [
      await change('dependencies', { issue: 'bob/secret#1' }),
      await change('dependencies', { issue: 'bob/nothing#1' }),
    ]
    t.strictSame([hidden.status, missing.status], [404, 404])
    const shown = ({ text }: { text: string }) => text.replace(/ title="[^"]*"/g, '')
    t.equal(shown(hidden).replaceAll('secret', 'nothing'), shown(missing))
    t.equal((await change('dependencies', { issue: '2' }, 'bob')).status, 404, 'not a writer')
    await change('dependencies/remove', { side: 'dependencies', issue: 'ada/r#2' })
    t.strictSame((await as('ada', 'GET', `${own}/dependencies`)).json, [])

    t.equal((await change('pin')).status, 303)
    t.match((await see('anyone', ONE)).text, /<span class="label">pinned/)
    t.match((await see('ada', ONE)).text, /Unpin/)
    t.equal((await change('pin', {}, 'bob')).status, 403)
    t.equal((await change('pin/remove')).status, 303)
    t.notMatch((await see('anyone', ONE)).text, /<span class="label">pinned/)

    t.equal((await change('times', { hours: '1', minutes: '20' }, 'bob')).status, 303, 'the author')
    t.equal((await change('times', { hours: '', minutes: '' })).status, 422)
    t.equal((await change('times', { hours: '1.5' })).status, 422)
    const [time] = (await as('ada', 'GET', `${own}/times`)).json as { id: number; time: number }[]
    t.equal(time?.time, 4_800)
    t.match((await see('ada', ONE)).text, /1 hour 20 minutes by .*bob/)
    t.notMatch((await see('anyone', ONE)).text, /1 hour 20 minutes by|<details class="tools"/)
    t.equal((await change('times/delete', { id: String(time?.id) })).status, 403, "another user's")
    t.equal((await change('times/delete', { id: String(time?.id) }, 'bob')).status, 303)
    t.equal((await change('times/delete', { id: String(time?.id) }, 'bob')).status, 404)

    t.equal((await change('stopwatch')).status, 303)
    t.match((await see('ada', ONE)).text, /Stop the stopwatch/)
    t.match((await as('ada', 'GET', '/user/stopwatches')).json, [{ issue_index: 1 }])
    await change('stopwatch/stop')
    t.strictSame((await as('ada', 'GET', '/user/stopwatches')).json, [])
    await change('stopwatch')
    await change('stopwatch/delete')
    t.strictSame((await as('ada', 'GET', '/user/stopwatches')).json, [])
    t.equal((await change('stopwatch', {}, 'bob')).status, 403)
  },
)
