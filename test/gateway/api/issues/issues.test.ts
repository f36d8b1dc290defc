/** Issues over the API: opened, listed, changed and deleted by permitted users. */

import t from 'tap'
import { onOneDatabase } from '../../../helpers/databases.js'
import { isExpected } from '../../../helpers/expected.js'
import {
  type GatewayWithUsers,
  type Name,
  refusal,
  startGatewayWithUsers,
} from '../../../helpers/gateway-with-users.js'
import { withToken } from '../../../helpers/requests.js'

type Fields = Record<string, unknown>

const NOT_FOUND = refusal('not found')
const R = '/repos/ada/r'

/** Creates ada's repository, which bob may read. */
async function aTracker(gateway: GatewayWithUsers, fields: Fields = {}) {
  await gateway.as('ada', 'POST', '/user/repos', { name: 'r', ...fields })
  const open = async (name: Name, body: Fields) => {
    const answer = await gateway.as(name, 'POST', `${R}/issues`, body)
    return { ...answer, issue: answer.json as Fields & { number: number } }
  }
  return { open }
}

await onOneDatabase(t, 'an issue has every field of the API', async (t, location) => {
  const gateway = await startGatewayWithUsers(t, { location })
  const { open } = await aTracker(gateway)
  const { as } = gateway
  const label = await as('ada', 'POST', `${R}/labels`, { name: 'bug', color: '#EE0701' })
  const milestone = await as('ada', 'POST', `${R}/milestones`, { title: 'v1' })
  const [labelId, milestoneId] = [label, milestone].map(({ json }) => (json as Fields)['id'])
  const plain = await open('bob', { title: 'It fails' })
  t.equal(plain.status, 201)
  isExpected(t, plain.issue, 'api/issue-created')
  const full = await open('ada', {
    title: ' näive ☃ 𝄞 ',
    body: 'for @bob',
    ref: 'main',
    closed: true,
    labels: [labelId],
    milestone: milestoneId,
    assignee: 'ADA',
    assignees: ['ada'],
    due_date: '2030-02-03T22:00:00-05:00',
  })
  t.equal(full.status, 201, full.text)
  isExpected(t, full.issue, 'api/issue-created-full')
  for (const { issue } of [plain, full]) {
    t.strictSame((await as('anyone', 'GET', `${R}/issues/${issue.number}`)).json, issue)
  }
  const { json } = await as('ada', 'GET', R)
  t.match(json, { open_issues_count: 1, open_pr_counter: 0 })
  t.match((await as('anyone', 'GET', `${R}/issues/3`)).json, NOT_FOUND)
  t.match((await as('anyone', 'GET', `${R}/issues/x`)).json, NOT_FOUND)
  t.match((await as('anyone', 'GET', `${R}/issues/9007199254740993`)).json, NOT_FOUND)
})

await onOneDatabase(
  t,
  'labels and milestones of callers without write permission are dropped',
  async (t, location) => {
    const gateway = await startGatewayWithUsers(t, { location })
    const { open } = await aTracker(gateway)
    const { as, ask, addUser, addToken } = gateway
    const label = (await as('ada', 'POST', `${R}/labels`, { name: 'l', color: 'abc' }))
      .json as Fields
    const milestone = (await as('ada', 'POST', `${R}/milestones`, { title: 'm' })).json as Fields
    const inputs = {
      labels: [label['id']],
      milestone: milestone['id'],
      assignees: ['ada'],
      due_date: '2030-02-03T00:00:00Z',
    }
    const nothing = { labels: [], milestone: null, assignee: null, assignees: null, due_date: null }
    const dropped = await open('bob', { title: 'x', ...inputs })
    t.equal(dropped.status, 201)
    t.match(dropped.issue, nothing)
    const nobody = { assignees: ['nobody'], labels: [99], milestone: 99 }
    t.equal((await open('bob', { title: 'x', ...nobody })).status, 201, 'invalid ones too')
    t.equal((await open('anyone', { title: 'x' })).status, 401)
    const readOnly = await addToken(await addUser('eve'), 'read:issue', 'write:repository')
    const body = { title: 'x' }
    const authorization = withToken(readOnly.plain)
    const sent = { method: 'POST', path: `/api/v1${R}/issues`, body, authorization }
    t.equal((await ask(sent)).status, 401, 'the required scope is write:issue')
    const edited = await as('bob', 'PATCH', `${R}/issues/1`, { title: 'y', ...inputs })
    t.equal(edited.status, 201)
    t.match(edited.json, { title: 'y', ...nothing })
    t.equal((await as('bob', 'POST', `${R}/issues/1/deadline`, {})).status, 403)
    t.equal((await as('bob', 'DELETE', `${R}/issues/1`)).status, 403)
  },
)

await onOneDatabase(
  t,
  'an issue is changed by its author and by users with write permission',
  async (t, location) => {
    const gateway = await startGatewayWithUsers(t, { location })
    const { open } = await aTracker(gateway)
    const { as, db } = gateway
    await open('ada', { title: 'of ada', body: 'old' })
    await open('bob', { title: 'of bob' })
    const edit = (name: Name, number: number, body: Fields) =>
      as(name, 'PATCH', `${R}/issues/${number}`, body)
    const refused = await edit('bob', 1, { title: 'x' })
    t.equal(refused.status, 403)
    t.match(refused.json, { message: /author/ })
    t.equal((await edit('anyone', 1, { title: 'x' })).status, 401)
    t.equal((await edit('bob', 2, { state: 'closed' })).status, 201)
    t.match((await as('ada', 'GET', R)).json, { open_issues_count: 1 })
    await db('issues').update({ updated_at: 1_000 })
    const changed = await edit('ada', 1, {
      title: 'new',
      body: 'text',
      ref: 'main',
      state: 'closed',
      assignees: ['ada'],
      due_date: '2030-01-02T00:00:00Z',
    })
    t.match(changed.json, {
      title: 'new',
      body: 'text',
      ref: 'main',
      state: 'closed',
      assignee: { login: 'ada' },
      closed_at: /^20/,
      due_date: '2030-01-02T23:59:59Z',
      updated_at: /^20/,
    })
    await db('issues').update({ updated_at: 1_000 })
    t.match((await edit('ada', 1, {})).json, { title: 'new', body: 'text', state: 'closed' })
    const undone = { state: 'open', assignees: [], unset_due_date: true, body: '' }
    const nothing = { assignees: null, assignee: null, due_date: null, closed_at: null, body: '' }
    t.match((await edit('ada', 1, undone)).json, { state: 'open', ...nothing })
    const due = await as('ada', 'POST', `${R}/issues/1/deadline`, {
      due_date: '2031-01-02T03:04:05Z',
    })
    t.equal(due.status, 201)
    t.strictSame(due.json, { due_date: '2031-01-02T23:59:59Z' })
    const unset = await as('ada', 'POST', `${R}/issues/1/deadline`, { due_date: null })
    t.strictSame(unset.json, { due_date: null })
    t.equal((await as('ada', 'DELETE', `${R}/issues/1`)).status, 204)
    t.equal((await as('ada', 'DELETE', `${R}/issues/1`)).status, 404)
    t.equal((await open('ada', { title: 'next' })).issue.number, 3, 'a number is not reused')
  },
)

await onOneDatabase(t, 'invalid values are refused with the reason', async (t, location) => {
  const gateway = await startGatewayWithUsers(t, { location })
  const { open } = await aTracker(gateway)
  const { as } = gateway
  await as('ada', 'POST', '/user/repos', { name: 'other' })
  const other = '/repos/ada/other'
  const label = await as('ada', 'POST', `${other}/labels`, { name: 'l', color: 'abc' })
  const milestone = await as('ada', 'POST', `${other}/milestones`, { title: 'm' })
  const [labelId, milestoneId] = [label, milestone].map(({ json }) => (json as Fields)['id'])
  const refused = async (body: unknown, message: RegExp) => {
    const answer = await as('ada', 'POST', `${R}/issues`, body)
    t.equal(answer.status, 422, `${message}`)
    t.match(answer.json, { message })
  }
  await refused({}, /^\[Title\]: Required$/)
  await refused({ title: '' }, /^\[Title\]: Required$/)
  await refused({ title: ['x'] }, /^\[Title\]: /)
  await refused({ title: { toString: 'x' } }, /^\[Title\]: /)
  for (const title of ['  ', 'a\u0000b', 'a\nb', '\u001b[2J', 'a\u2028b', '\ud800']) {
    await refused({ title }, /control characters/)
  }
  await refused({ title: '𝄞'.repeat(256) }, /255 characters/)
  await refused({ title: 'x', labels: [labelId] }, /label/)
  await refused({ title: 'x', labels: ['l'] }, /^\[Labels\]: /)
  await refused({ title: 'x', milestone: milestoneId }, /milestone/)
  await refused(
    { title: 'x', assignees: ['nobody'] },
    /^Assignee does not exist: \[name: nobody\]$/,
  )
  await refused({ title: 'x', assignee: 'bob' }, /^Assignee does not exist: \[name: bob\]$/)
  for (const due_date of ['tomorrow', '2030-13-01T00:00:00Z', '2030-01-01', '']) {
    await refused({ title: 'x', due_date }, /due_date|DueDate|RFC 3339/)
  }
  t.strictSame((await as('ada', 'GET', `${R}/issues`)).json, [], 'no issue was created')
  const longest = '𝄞'.repeat(255)
  const text = `x\u0000\r\n${'☃'.repeat(330_000)}`
  const kept = await open('ada', { title: longest, body: text })
  t.equal(kept.status, 201, kept.text.slice(0, 200))
  t.equal(kept.issue['title'], longest)
  const read = (await as('ada', 'GET', `${R}/issues/1`)).json as Fields
  t.ok(read['body'] === text, 'a megabyte of text is stored completely')
  t.equal((await open('ada', { title: 'x', body: 'x'.repeat(1_100_000) })).status, 413)
  t.equal((await as('ada', 'PATCH', `${R}/issues/1`, { milestone: milestoneId })).status, 422)
  t.equal((await as('ada', 'PATCH', `${R}/issues/1`, { state: 'gone' })).status, 422)
})

await onOneDatabase(t, 'issues are listed by each filter', async (t, location) => {
  const gateway = await startGatewayWithUsers(t, { location })
  const { open } = await aTracker(gateway)
  const { as, db } = gateway
  const ids: unknown[] = []
  for (const name of ['a', 'b']) {
    const { json } = await as('ada', 'POST', `${R}/labels`, { name, color: 'abc' })
    ids.push((json as Fields)['id'])
  }
  const { json } = await as('ada', 'POST', `${R}/milestones`, { title: 'v 1' })
  const milestone = (json as Fields)['id']
  await open('ada', { title: 'one', labels: ids, milestone, assignees: ['ada'] })
  await open('bob', { title: 'two 100% of_it', body: 'to @ADA, not x@bob.example' })
  await open('ada', { title: 'three', labels: [ids[0]], closed: true })
  await db('issues').where({ number: 2 }).update({ is_pull: true })
  await db('issues').update({ updated_at: db.raw('number * 86400000 + 500') })
  const listed = async (query: string, name: Name = 'anyone') => {
    const { status, json, headers } = await as(name, 'GET', `${R}/issues?${query}`)
    if (status !== 200) return status
    const numbers = (json as { number: number }[]).map(({ number }) => number)
    t.equal(headers['x-total-count'], String(numbers.length), query)
    return numbers.join()
  }
  for (const [query, numbers] of Object.entries({
    '': '2,1',
    'state=open': '2,1',
    'state=closed': '3',
    'state=all': '3,2,1',
    'type=issues': '1',
    'type=pulls': '2',
    'type=': '2,1',
    'type=issues&state=all': '3,1',
    'state=all&labels=a': '3,1',
    'state=all&labels=a,b': '1',
    'labels=a,none': '',
    'labels=A': '',
    'milestones=v%201': '1',
    'milestones=none': '',
    'labels=%27': '',
    [`milestones=${milestone}`]: '1',
    [`milestones=none,${milestone}`]: '1',
    'q=ONE': '1',
    'q=%25': '2',
    'q=_': '2',
    'q=%5C': '',
    'q=not%20x': '2',
    'q[]=x': '2,1',
    'created_by=ada': '1',
    'created_by=BOB': '2',
    'assigned_by=ada': '1',
    'mentioned_by=ada': '2',
    'mentioned_by=bob': '',
    'created_by=': '2,1',
    'since=1970-01-03T00:00:00Z': '2',
    'before=1970-01-02T00:00:00Z': '1',
    'since=1970-01-03T01:00:00%2B01:00': '2',
    'since=1970-01-03T01:00:00+01:00': '2',
    'since=1970-01-03T00:00:01Z': '',
    'page=2': '',
  })) {
    if (query === 'page=2') continue
    t.equal(await listed(query), numbers, query)
  }
  for (const query of ['created_by=nobody', 'assigned_by=x', 'mentioned_by=%00']) {
    t.equal(await listed(query), 404, query)
  }
  for (const query of ['since=yesterday', 'before=1', 'since=2030-02-31']) {
    t.equal(await listed(query), 422, query)
  }
  const paged = await as('ada', 'GET', `${R}/issues?state=all&limit=2&labels=a%2Cb&q=n`)
  t.equal(paged.headers['link'], undefined)
  const first = await as('ada', 'GET', `${R}/issues?state=all&limit=2`)
  t.equal(first.headers['x-total-count'], '3')
  t.match(first.headers['link'], /issues\?state=all&limit=2&page=2>; rel="next"/)
  t.strictSame((await as('ada', 'GET', `${R}/issues?page=9`)).json, [])
  const [pull] = (await as('ada', 'GET', `${R}/issues?type=pulls`)).json as Fields[]
  t.match(pull, { pull_request: { merged: false, merged_at: null, draft: false } })
})

await onOneDatabase(t, 'disabled, hidden and archived issues are refused', async (t, location) => {
  const gateway = await startGatewayWithUsers(t, { location })
  const { open } = await aTracker(gateway, { private: true })
  const { as } = gateway
  await open('ada', { title: 'x' })
  for (const path of ['/issues', '/issues/1', '/issues/1/comments', '/labels', '/milestones']) {
    const hidden = await as('bob', 'GET', R + path)
    t.strictSame([hidden.status, hidden.json], [404, NOT_FOUND], path)
  }
  t.equal((await open('bob', { title: 'x' })).status, 404)
  await as('ada', 'PATCH', R, { has_issues: false, private: false })
  for (const path of ['/issues?type=issues', '/issues/1', '/issues/1/labels']) {
    t.equal((await as('ada', 'GET', R + path)).status, 404, path)
  }
  t.strictSame(
    (await as('ada', 'GET', `${R}/issues`)).json,
    [],
    'the combined list is still available for pull requests',
  )
  t.equal((await open('ada', { title: 'x' })).status, 404)
  t.equal((await as('ada', 'PATCH', `${R}/issues/1`, { title: 'y' })).status, 404)
  await as('ada', 'PATCH', R, { has_pull_requests: false })
  t.equal((await as('ada', 'GET', `${R}/issues`)).status, 404)
  await as('ada', 'PATCH', R, { has_issues: true, archived: true })
  t.equal((await as('ada', 'GET', `${R}/issues/1`)).status, 200)
  t.equal((await open('bob', { title: 'x' })).status, 423)
  for (const [method, path, body] of [
    ['PATCH', '/issues/1', { title: 'y' }] as const,
    ['DELETE', '/issues/1', {}] as const,
    ['POST', '/issues/1/deadline', {}] as const,
    ['PUT', '/issues/1/lock', {}] as const,
    ['POST', '/issues/1/comments', { body: 'x' }] as const,
    ['POST', '/issues/1/labels', { labels: [] }] as const,
    ['POST', '/issues/1/reactions', { content: '+1' }] as const,
    ['POST', '/labels', { name: 'l', color: 'abc' }] as const,
    ['POST', '/milestones', { title: 'm' }] as const,
  ]) {
    t.equal((await as('ada', method, R + path, body)).status, 423, `${method} ${path}`)
  }
})

await onOneDatabase(t, '50 concurrent issues get 50 numbers', async (t, location) => {
  const gateway = await startGatewayWithUsers(t, { location })
  const { open } = await aTracker(gateway)
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, n) => open(n % 2 === 0 ? 'ada' : 'bob', { title: `t${n}` })),
  )
  t.ok(answers.every(({ status }) => status === 201))
  const numbers = answers.map(({ issue }) => issue.number).sort((one, other) => one - other)
  t.strictSame(
    numbers,
    Array.from({ length: 50 }, (_, n) => n + 1),
  )
})
