/** Pages of pull requests: visibility, and the same effects as over the API. */

import t, { type Test } from 'tap'
import { findRepository } from '../../../../sql/repositories/repositories.js'
import { aWebhook, listDeliveredPayloads } from '../../../helpers/deliveries.js'
import type { Name } from '../../../helpers/gateway-with-users.js'
import { git } from '../../../helpers/git-client.js'
import { startGatewayWithPull } from '../../../helpers/pulls.js'
import { seeRendered } from '../../../helpers/web-forms.js'

const ONE = '/ada/r/pulls/1'
const COMPARE = '/ada/r/compare/main...topic'

/** Starts a gateway with ada/r, branches, and users with browser sessions. */
async function openPullBrowsers(t: Test) {
  const gateway = await startGatewayWithPull(t)
  const cookies = new Map<string, string>()
  const send = (name: Name, path: string, fields: Record<string, string>) =>
    gateway.ask({
      method: 'POST',
      path,
      body: new URLSearchParams(fields).toString(),
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        cookie: cookies.get(name) ?? '',
      },
    })
  for (const name of ['ada', 'bob'] as const) {
    const fields = { user_name: name, password: `password of ${name}` }
    const { headers } = await send('anyone', '/user/login', fields)
    cookies.set(name, String(headers['set-cookie']).split(';')[0] ?? '')
  }
  const see = (name: Name, path: string) =>
    gateway.ask({ path, headers: { cookie: cookies.get(name) ?? '' } })
  const merge = (name: Name, head: string, fields: Record<string, string> = {}) =>
    send(name, `${ONE}/merge`, { style: 'merge', head, ...fields })
  return { ...gateway, send, see, merge }
}

t.test('branches are compared, opened, commented and merged, with all their events', async (t) => {
  const { db, bare, write, of, see, send, merge } = await openPullBrowsers(t)
  const repository = await findRepository(db, 'ada', 'r')
  await aWebhook(db, { repositoryId: repository?.id ?? 0 })
  await write('topic', 'a <file>', 'some <b>text\n')
  const head = await write('topic', 'b')
  t.match((await see('anyone', '/ada/r/branches')).text, /compare\/main\.\.\.topic"/)
  const chosen = await see('anyone', '/ada/r/compare?head=topic')
  t.equal(chosen.headers.location, COMPARE)
  const compared = await see('anyone', COMPARE)
  t.match(compared.text, /2 commits.*Write b.*2 files changed.*a &lt;file>.*\+some &lt;b>text/s)
  t.match(compared.text, /redirect_to=%2Fada%2Fr%2Fcompare%2Fmain\.\.\.topic">Sign in/)
  t.equal((await send('anyone', COMPARE, { title: 'x' })).status, 401)
  const empty = await send('bob', COMPARE, { title: ' ', content: 'a <b> text' })
  t.equal(empty.status, 422)
  t.match(empty.text, /role="alert".*a &lt;b> text/s, 'the input is kept')
  const opened = await send('bob', COMPARE, { title: 'Bring <it>', content: 'It **matters**.' })
  t.equal(opened.headers.location, ONE)
  t.match((await see('bob', COMPARE)).text, /already a pull request.*href="[^"]*\/pulls\/1">#1/s)
  t.match((await see('anyone', '/ada/r/pulls')).text, /href="[^"]*\/pulls\/1">Bring &lt;it>/)
  const page = (await see('ada', ONE)).text
  t.match(page, /<h2>Bring &lt;it> <span class="quiet">#1<\/span><\/h2>.*matters<\/strong>/s)
  t.match(page, /from <a [^>]*src\/branch\/topic"><code>topic<.*into <a [^>]*branch\/main"/s)
  t.match(page, new RegExp(`without a conflict.*name="head" value="${head}"`, 's'))
  t.match((await see('anyone', `${ONE}/commits`)).text, /Write b.*Write a &lt;file>/s)
  t.match((await see('anyone', `${ONE}/files`)).text, /2 files changed.*\+some &lt;b>text/s)
  const diff = await see('anyone', `${ONE}.diff`)
  t.match([diff.headers['content-type'], diff.text], [/text\/plain/, /^\+some <b>text$/m])
  t.match((await see('anyone', `${ONE}.patch`)).text, /^Subject: .*Write a <file>$/m)
  await send('ada', `${ONE}/comments`, { content: 'Not yet.', state: 'closed' })
  t.match((await see('anyone', '/ada/r/pulls?state=closed')).text, /Bring &lt;it>/)
  t.notMatch((await see('ada', ONE)).text, /name="head"/, 'closed')
  await send('bob', `${ONE}/comments`, { content: '', state: 'open' })
  const merged = await merge('ada', head, { style: 'squash', title: 'One', delete: 'on' })
  t.match([merged.status, merged.headers.location], [303, ONE])
  t.equal(await git(['log', '-1', '--format=%s %an', 'main'], { cwd: bare }), 'One bob')
  t.match(
    (await see('anyone', ONE)).text,
    /ada<\/a> merged this.*from <code>topic|ada<\/a> merged/s,
  )
  t.equal((await of('ada', 'GET', '/branches/topic')).status, 404)
  t.match((await of('ada', 'GET', '/pulls/1')).json, { merged: true, comments: 1 })
  const told = (await listDeliveredPayloads(db))
    .map(({ event, payload }) => `${event} ${payload['action'] ?? ''}`)
    .filter((told) => told.startsWith('pull_request'))
  t.strictSame(told, [
    'pull_request opened',
    'pull_request_comment created',
    'pull_request closed',
    'pull_request reopened',
    'pull_request closed',
  ])
})

t.test('a user who may not merge reads why, and a sent form is refused', async (t) => {
  const { write, open, of, see, send, merge } = await openPullBrowsers(t)
  const head = await write('topic', 'a')
  await open('topic')
  t.match((await see('bob', ONE)).text, /You are not permitted to merge into this branch/)
  t.notMatch((await see('bob', ONE)).text, /name="head"|Close pull request/)
  t.equal((await merge('anyone', head)).status, 401)
  const refused = await merge('bob', head)
  t.equal(refused.status, 405)
  t.match(refused.text, /role="alert">You are not permitted to merge/)
  t.equal((await send('bob', `${ONE}/comments`, { content: '', state: 'closed' })).status, 403)
  for (const fields of [{ head: '' }, { style: 'x' }, { style: 'manually-merged' }]) {
    t.equal((await merge('ada', head, fields)).status, 422)
  }
  await of('ada', 'PATCH', '', { allow_squash_merge: false, default_merge_style: 'rebase' })
  const page = (await see('ada', ONE)).text
  t.match(page, /<option value="rebase" selected>/)
  t.notMatch(page, /value="squash"/)
  t.equal((await merge('ada', head, { style: 'squash' })).status, 405)
  await of('ada', 'PATCH', '/pulls/1', { title: 'WIP: x' })
  t.match((await see('ada', ONE)).text, /cannot be merged now\. Its title marks/)
  await of('ada', 'PATCH', '/pulls/1', { title: 'x' })
  const said = { context: 'build <it>', state: 'failure', description: 'three <tests>' }
  await of('ada', 'POST', `/statuses/${head}`, { ...said, target_url: 'https://ci.example/1' })
  const checks = (await see('anyone', ONE)).text
  t.match(
    checks,
    /failure<.*href="https:\/\/ci\.example\/1"[^>]*>build &lt;it><.*three &lt;tests>/s,
  )
  await of('ada', 'POST', '/branch_protections', { rule_name: 'main', required_approvals: 1 })
  t.match((await see('ada', ONE)).text, /prevents the merge: Does not have enough approvals/)
  const ruled = await merge('ada', head)
  t.match([ruled.status, ruled.text], [405, /prevents the merge: Does not have enough approvals/])
  t.match((await of('ada', 'GET', '/pulls/1')).json, { merged: false, state: 'open' })
})

t.test('only the head that was shown is merged, and no conflict', async (t) => {
  const { write, open, of, see, merge } = await openPullBrowsers(t)
  const seen = await write('topic', 'a')
  await open('topic')
  const head = await write('topic', 'sneaked in')
  const stale = await merge('ada', seen)
  t.equal(stale.status, 409)
  t.match(stale.text, /role="alert">The branch has changed since you opened/)
  t.match(stale.text, new RegExp(`name="head" value="${head}"`), 'the current head')
  await write('main', 'sneaked in', 'other\n')
  t.match((await see('ada', ONE)).text, /cannot be merged now\. The branches have changes/)
  const conflict = await merge('ada', head)
  t.equal(conflict.status, 409)
  t.match(conflict.text, /role="alert">The branches have changes that conflict/)
  t.match((await of('ada', 'GET', '/pulls/1')).json, { merged: false, state: 'open' })
})

t.test('reviews are shown as sentences, and a draft to its author only', async (t) => {
  const { write, open, of, see, send } = await openPullBrowsers(t)
  await write('topic', 'a', 'one\n')
  await open('topic')
  const asked = { reviewers: ['bob'] }
  t.equal((await of('ada', 'POST', '/pulls/1/requested_reviewers', asked)).status, 201)
  t.match((await see('anyone', ONE)).text, /bob<\/a> was asked for a review/)
  const line = { path: 'a', body: 'why <this>?', new_position: 1 }
  const review = { event: 'REQUEST_CHANGES', body: 'not **so**', comments: [line] }
  t.equal((await of('bob', 'POST', '/pulls/1/reviews', review)).status, 200)
  const seeOne = () => see('anyone', ONE)
  const { text } = await seeRendered(seeOne)
  t.match(text, /bob<\/a> requested changes .*not <strong>so.*<code>a<\/code>, line 1.*why/s)
  const more = Array.from({ length: 150 }, () => ({ ...line, body: '**long** '.repeat(200) }))
  await of('bob', 'POST', '/pulls/1/reviews', { event: 'COMMENT', body: 'x', comments: more })
  const cut = (await seeRendered(seeOne)).text
  t.equal(cut.match(/class="line-comment"/g)?.length, 100, 'a page has at most 100 comments')
  t.match(cut, /<strong>long<.*comments are not shown/s)
  const files = await see('bob', `${ONE}/files`)
  const [, seen = ''] = /name="head" value="(\w+)"/.exec(files.text) ?? []
  for (const name of ['ada', 'anyone'] as const) {
    t.notMatch((await see(name, `${ONE}/files`)).text, /name="event"/, name)
  }
  const give = (name: 'ada' | 'bob' | 'anyone', fields: Record<string, string>) =>
    send(name, `${ONE}/reviews`, { event: 'APPROVED', content: '', head: seen, ...fields })
  t.equal((await give('anyone', {})).status, 401)
  t.match(
    (await give('ada', {})).text,
    /cannot|not allowed/,
    'an author cannot approve their own pull request',
  )
  const silent = await give('bob', { event: 'REQUEST_CHANGES' })
  t.match([silent.status, silent.text], [422, /role="alert">Describe the changes/])
  for (const fields of [{ event: '' }, { head: '' }, { event: 'REQUEST_REVIEW' }]) {
    t.equal((await give('bob', fields)).status, 422)
  }
  t.equal((await give('bob', { content: 'Now it is **good**' })).headers.location, ONE)
  t.match((await seeRendered(seeOne)).text, /bob<\/a> approved this.*<strong>good/s)
  await write('topic', 'later')
  const stale = await give('bob', {})
  t.match([stale.status, stale.text], [422, /role="alert">The branch has changed/])
  await of('bob', 'POST', '/pulls/1/reviews', { event: 'PENDING', body: 'half a thought' })
  t.notMatch((await see('ada', ONE)).text, /half a thought/)
  t.match((await see('bob', ONE)).text, /not submitted yet.*half a thought/s)
})

t.test(
  'archived, disabled, private and hidden fork pull requests are refused or hidden',
  async (t) => {
    const gateway = await openPullBrowsers(t)
    const { write, open, of, as, see, send, merge, copy, pathOf } = gateway
    const head = await write('topic', 'a')
    await open('topic')
    await of('ada', 'POST', '/issues', { title: 'An issue' })
    const paths = ['/ada/r/pulls', ONE, `${ONE}/commits`, `${ONE}/files`, `${ONE}.diff`]
    for (const path of ['/ada/r/pulls/2/files', '/ada/r/pulls/x', '/ada/r/compare/main...none']) {
      t.equal((await see('ada', path)).status, 404, path)
    }
    await of('ada', 'PATCH', '', { archived: true })
    const archived = (await see('ada', ONE)).text
    t.match(archived, /cannot be merged now\. The repository is archived/)
    t.notMatch(archived, /name="head"|<textarea/)
    t.equal((await merge('ada', head)).status, 423)
    t.equal((await send('ada', COMPARE, { title: 'x' })).status, 423)
    t.notMatch((await see('ada', '/ada/r/compare/topic...main')).text, /<textarea/)
    await of('ada', 'PATCH', '', { archived: false, has_pull_requests: false })
    for (const path of paths) t.equal((await see('ada', path)).status, 404, path)
    t.equal((await merge('ada', head)).status, 404)
    t.equal((await send('ada', '/ada/r/compare/topic...main', { title: 'x' })).status, 404)
    t.match((await see('ada', COMPARE)).text, /1 commit.*1 file changed/s)
    await of('ada', 'PATCH', '', { has_pull_requests: true })
    await as('bob', 'POST', '/repos/ada/r/forks', {})
    const fork = await pathOf('bob', 'r')
    await copy.git('checkout', '--quiet', '--detach', 'refs/heads/main')
    const tip = await copy.commit('secret', 'of bob\n')
    await copy.git('push', '--quiet', fork, `${tip}:refs/heads/hidden`)
    const theirs = '/ada/r/compare/main...bob/r:hidden'
    const link = /compare\/main\.\.\.bob\/r%3Ahidden"/
    t.match((await see('anyone', '/bob/r/branches')).text, link)
    t.match((await see('bob', theirs)).text, /bob\/r\/commit\/.*\+of bob/s)
    t.equal((await send('bob', theirs, { title: 'Ours' })).headers.location, '/ada/r/pulls/3')
    t.match((await see('ada', '/ada/r/pulls/3')).text, /bob\/r:hidden/)
    await as('bob', 'PATCH', '/repos/bob/r', { private: true })
    t.match((await see('bob', '/ada/r/pulls/3')).text, /href="[^"]*\/bob\/r\/src\/branch\/hidden"/)
    t.notMatch((await see('ada', '/ada/r/pulls/3')).text, /bob\/r/, 'reported as deleted')
    for (const name of ['ada', 'anyone'] as const) {
      const { status, text } = await see(name, theirs)
      t.equal(status, 404)
      t.equal(text, (await see(name, '/ada/r/compare/main...none/r:hidden')).text)
    }
    t.equal((await send('ada', theirs, { title: 'x' })).status, 404)
    await of('ada', 'PATCH', '', { private: true })
    for (const path of [...paths, COMPARE, '/ada/r/compare']) {
      t.equal((await see('bob', path)).status, 404, path)
    }
    t.equal((await merge('bob', head)).status, 404)
    const own = (await see('bob', '/bob/r/branches')).text
    t.match(own, /\/bob\/r\/compare\/main\.\.\.hidden"/)
    t.notMatch(own, link, 'bob cannot read the parent any more')
  },
)
