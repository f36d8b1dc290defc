/** Timelines over the API: comments and events, and which of them are seen. */

import t from 'tap'
import { forEachDatabase } from '../../../helpers/databases.js'
import { BASE_URL } from '../../../helpers/gateway.js'
import { startGatewayWithUsers } from '../../../helpers/gateway-with-users.js'
import { type Fields, startGatewayWithPull } from '../../../helpers/pulls.js'

const R = '/repos/ada/r'

await forEachDatabase(t, 'changes of an issue are events with their user', async (t, location) => {
  const { as } = await startGatewayWithUsers(t, { location })
  await as('ada', 'POST', '/user/repos', { name: 'r' })
  const ask = async (method: string, path: string, body?: unknown) => {
    const { status, text, json } = await as('ada', method, `${R}${path}`, body)
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${text}`)
    return json as Fields
  }
  const { id: bug } = await ask('POST', '/labels', { name: 'bug', color: 'aaa' })
  const { id: later } = await ask('POST', '/labels', { name: 'later', color: 'bbb' })
  const { id: v1 } = await ask('POST', '/milestones', { title: 'v1' })
  await ask('POST', '/issues', { title: 'x', labels: [bug], milestone: v1, assignees: ['ada'] })
  await ask('PATCH', '/issues/1', { title: 'y', ref: 'main', milestone: 0, assignees: [] })
  await ask('PATCH', '/issues/1', { title: 'y', body: 'a text without an event' })
  await ask('PUT', '/issues/1/labels', { labels: [later] })
  await ask('DELETE', `/issues/1/labels/${later}`)
  await ask('POST', '/issues/1/comments', { body: 'done' })
  await ask('POST', '/issues/1/deadline', { due_date: '2030-01-02T00:00:00Z' })
  await ask('PATCH', '/issues/1', { due_date: '2030-01-03T00:00:00Z' })
  await ask('POST', '/issues/1/deadline', { due_date: null })
  await ask('PUT', '/issues/1/lock', { lock_reason: 'spam' })
  await ask('DELETE', '/issues/1/lock')
  await ask('PATCH', '/issues/1', { state: 'closed' })
  await ask('PATCH', '/issues/1', { state: 'closed' })
  await ask('PATCH', '/issues/1', { state: 'open' })
  const listed = await as('anyone', 'GET', `${R}/issues/1/timeline?limit=50`)
  const removed = { removed_assignee: true }
  t.match(listed.json, [
    { type: 'label', body: '1', label: { name: 'bug' }, user: { login: 'ada' } },
    { type: 'milestone', milestone: { title: 'v1' }, old_milestone: null },
    { type: 'assignees', assignee: { login: 'ada' }, removed_assignee: false },
    { type: 'change_title', old_title: 'x', new_title: 'y' },
    { type: 'change_issue_ref', old_ref: '', new_ref: 'main' },
    { type: 'milestone', milestone: null, old_milestone: { title: 'v1' } },
    { type: 'assignees', assignee: { login: 'ada' }, ...removed },
    { type: 'label', body: '', label: { name: 'bug' } },
    { type: 'label', body: '1', label: { name: 'later' } },
    { type: 'label', body: '', label: { name: 'later' } },
    { type: 'comment', body: 'done', user: { login: 'ada' } },
    { type: 'added_deadline', body: '2030-01-02' },
    { type: 'modified_deadline', body: '2030-01-03|2030-01-02' },
    { type: 'removed_deadline', body: '2030-01-03' },
    { type: 'lock', body: 'spam' },
    { type: 'unlock' },
    { type: 'close', issue_url: `${BASE_URL}/ada/r/issues/1`, pull_request_url: '' },
    { type: 'reopen' },
  ])
  const entries = listed.json as readonly Fields[]
  t.equal(entries.length, 18)
  t.equal(new Set(entries.map(({ id }) => id)).size, 18, 'no two entries share an id')
  const second = await as('anyone', 'GET', `${R}/issues/1/timeline?limit=4&page=2`)
  t.strictSame(second.json, entries.slice(4, 8))
  t.match(second.headers, { 'x-total-count': '18' })
  const future = encodeURIComponent(new Date(Date.now() + 60_000).toISOString())
  t.strictSame((await as('ada', 'GET', `${R}/issues/1/timeline?since=${future}`)).json, [])
  t.equal((await as('ada', 'GET', `${R}/issues/9/timeline`)).status, 404)
  await ask('DELETE', `/labels/${bug}`)
  t.match((await as('ada', 'GET', `${R}/issues/1/timeline`)).json, [{ type: 'label', label: null }])
})

await forEachDatabase(t, 'a reference is seen by readers of its source', async (t, location) => {
  const { as } = await startGatewayWithUsers(t, { location })
  await as('ada', 'POST', '/user/repos', { name: 'r' })
  await as('ada', 'POST', '/user/repos', { name: 'secret', private: true })
  await as('ada', 'POST', `${R}/issues`, { title: 'one' })
  await as('ada', 'POST', `${R}/issues`, { title: 'two', body: 'Like #1, and `#2` is code.' })
  await as('bob', 'POST', `${R}/issues/2/comments`, { body: 'See ada/r#1, #1 and ada/secret#1.' })
  await as('ada', 'POST', '/repos/ada/secret/issues', { title: 'Hidden, for ADA/R#1' })
  await as('ada', 'PATCH', `${R}/issues/2`, { body: 'Still like #1.' })
  const seen = async (name: 'ada' | 'bob' | 'anyone', path = `${R}/issues/1`) => {
    const { json } = await as(name, 'GET', `${path}/timeline`)
    return (json as { type: string; ref_issue: { title: string }; ref_comment: unknown }[]).map(
      ({ type, ref_issue, ref_comment }) =>
        `${type} ${ref_issue.title}${ref_comment === null ? '' : ' by a comment'}`,
    )
  }
  const open = ['issue_ref two', 'comment_ref two by a comment']
  t.strictSame(await seen('anyone'), open)
  t.strictSame(await seen('bob'), open)
  t.strictSame(await seen('ada'), [...open, 'issue_ref Hidden, for ADA/R#1'])
  t.strictSame(await seen('ada', '/repos/ada/secret/issues/1'), [], 'bob cannot read it')
  const { headers } = await as('bob', 'GET', `${R}/issues/1/timeline`)
  t.equal(headers['x-total-count'], '2', 'the hidden event is not counted')
})

await forEachDatabase(t, 'reviews and the merge of a pull request are events', async (t, at) => {
  const { of, write, open } = await startGatewayWithPull(t, { location: at })
  await write('topic', 'a')
  await write('next', 'b')
  await of('ada', 'POST', '/issues', { title: 'a fault' })
  await open('topic', { body: 'Mends #1.', base: 'next', title: 'Bring' })
  await of('ada', 'PATCH', '/pulls/2', { base: 'main', title: 'Bring it' })
  const request = { reviewers: ['bob'] }
  await of('ada', 'POST', '/pulls/2/requested_reviewers', request)
  await of('ada', 'DELETE', '/pulls/2/requested_reviewers', request)
  const review = await of('bob', 'POST', '/pulls/2/reviews', { event: 'APPROVED', body: 'Good.' })
  const { id } = review.json as Fields
  await of('ada', 'POST', `/pulls/2/reviews/${id}/dismissals`, { message: 'Late.' })
  const draft = await of('bob', 'POST', '/pulls/2/reviews', { body: 'not sent yet' })
  const before = await of('ada', 'GET', '/issues/2/timeline')
  t.notMatch(JSON.stringify(before.json), 'not sent yet')
  const submitted = { event: 'COMMENT', body: 'Sent.' }
  await of('bob', 'POST', `/pulls/2/reviews/${(draft.json as Fields)['id']}`, submitted)
  const merge = { Do: 'merge', delete_branch_after_merge: true }
  t.equal((await of('ada', 'POST', '/pulls/2/merge', merge)).status, 200)
  t.match((await of('anyone', 'GET', '/issues/2/timeline')).json, [
    { type: 'change_target_branch', old_ref: 'next', new_ref: 'main' },
    { type: 'change_title', new_title: 'Bring it' },
    { type: 'review_request', assignee: { login: 'bob' }, removed_assignee: false },
    { type: 'review_request', assignee: { login: 'bob' }, removed_assignee: true },
    { type: 'review', body: 'Good.', review_id: id, user: { login: 'bob' } },
    { type: 'dismiss_review', body: 'Late.', review_id: id, user: { login: 'ada' } },
    { type: 'comment' },
    { type: 'review', body: 'Sent.', user: { login: 'bob' } },
    { type: 'merge_pull', pull_request_url: `${BASE_URL}/ada/r/pulls/2`, issue_url: '' },
    { type: 'delete_branch', old_ref: 'topic' },
  ])
  const merged = (await of('ada', 'GET', '/pulls/2')).json as { merge_commit_sha: string }
  const ofCommit = await of('anyone', 'GET', `/commits/${merged.merge_commit_sha}/pull`)
  t.match(ofCommit, { status: 200, json: { number: 2, merged: true } })
  t.equal((await of('anyone', 'GET', '/commits/main/pull')).status, 404)
  t.match((await of('anyone', 'GET', '/issues/1/timeline')).json, [
    { type: 'pull_ref', ref_issue: { number: 2 }, ref_action: 'none' },
  ])
})
