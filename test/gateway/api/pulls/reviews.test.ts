/** Reviews over the API: written, submitted, visible, and deleted. */

import t from 'tap'
import { onOneDatabase } from '../../../helpers/databases.js'
import { BASE_URL } from '../../../helpers/gateway.js'
import { refusal } from '../../../helpers/gateway-with-users.js'
import { type Fields, startGatewayWithPull } from '../../../helpers/pulls.js'

const URL_OF_ONE = `${BASE_URL}/ada/r/pulls/1`

await onOneDatabase(t, 'a review is written with comments on lines', async (t, location) => {
  const { of, write, open } = await startGatewayWithPull(t, { location })
  await write('topic', 'a', 'one\ntwo\nthree\n')
  const head = await write('topic', 'root', 'other\n')
  await open('topic')
  const comments = [
    { path: 'a', body: 'Why two?', new_position: 2 },
    { path: 'root', body: 'It was good.', old_position: 1 },
    { path: 'absent', body: 'Where?', new_position: 9 },
  ]
  const body = { event: 'REQUEST_CHANGES', body: 'No.', comments, commit_id: head }
  const review = await of('bob', 'POST', '/pulls/1/reviews', body)
  t.match(review, {
    status: 200,
    json: {
      state: 'REQUEST_CHANGES',
      body: 'No.',
      user: { login: 'bob' },
      team: null,
      commit_id: head,
      stale: false,
      official: false,
      dismissed: false,
      comments_count: 3,
      pull_request_url: URL_OF_ONE,
    },
  })
  const { id } = review.json as Fields
  const path = `/pulls/1/reviews/${id}`
  t.strictSame((await of('anyone', 'GET', path)).json, review.json)
  t.match((await of('anyone', 'GET', `${path}/comments`)).json, [
    {
      path: 'a',
      body: 'Why two?',
      position: 2,
      original_position: 0,
      commit_id: head,
      diff_hunk: '@@ -0,0 +1,3 @@\n+one\n+two',
      user: { login: 'bob' },
      resolver: null,
      pull_request_review_id: id,
      pull_request_url: URL_OF_ONE,
    },
    { path: 'root', position: 0, original_position: 1, diff_hunk: '@@ -1 +1 @@\n-root' },
    { path: 'absent', position: 9, diff_hunk: '' },
  ])
  t.match((await of('ada', 'GET', '/pulls/1')).json, { review_comments: 3 })
  await write('topic', 'b')
  t.match((await of('ada', 'GET', path)).json, { stale: true })
})

await onOneDatabase(t, 'a draft is visible to its author only', async (t, location) => {
  const { of, write, open } = await startGatewayWithPull(t, { location })
  await write('topic', 'a')
  await open('topic')
  const draft = await of('bob', 'POST', '/pulls/1/reviews', { body: 'Hm' })
  t.match(draft, { status: 200, json: { state: 'PENDING' } })
  const path = `/pulls/1/reviews/${(draft.json as Fields)['id']}`
  const line = { path: 'topic', body: 'Here', new_position: 1 }
  const more = await of('bob', 'POST', '/pulls/1/reviews', { body: '', comments: [line] })
  const { id } = draft.json as Fields
  t.match(more, { status: 200, json: { id, state: 'PENDING', body: 'Hm', comments_count: 1 } })
  for (const name of ['ada', 'anyone'] as const) {
    t.match(await of(name, 'GET', '/pulls/1/reviews'), { headers: { 'x-total-count': '0' } })
    t.equal((await of(name, 'GET', path)).status, 404)
    t.equal((await of(name, 'GET', `${path}/comments`)).status, 404)
  }
  t.equal((await of('ada', 'POST', path, { event: 'COMMENT' })).status, 404)
  t.equal((await of('ada', 'DELETE', path)).status, 404)
  t.match(await of('bob', 'POST', path, { event: 'PENDING' }), { status: 422 })
  t.match(await of('bob', 'POST', path, { event: 'APPROVED' }), {
    status: 200,
    json: { state: 'APPROVED', body: 'Hm' },
  })
  const again = await of('bob', 'POST', path, { event: 'APPROVED' })
  t.strictSame(again.json, refusal('only a pending review can be submitted'))
  t.match((await of('anyone', 'GET', '/pulls/1/reviews')).json, [{ state: 'APPROVED' }])
  t.equal((await of('anyone', 'DELETE', path)).status, 401)
  t.equal((await of('bob', 'DELETE', path)).status, 204)
  t.equal((await of('bob', 'DELETE', path)).status, 404)
})

t.test('an invalid review is refused', async (t) => {
  const { of, write, open } = await startGatewayWithPull(t)
  await write('topic', 'a')
  await open('topic')
  const refused = async (name: 'ada' | 'bob', body: Fields, message: string | RegExp) => {
    const answer = await of(name, 'POST', '/pulls/1/reviews', body)
    t.match(answer, { status: 422, json: { message } }, JSON.stringify(body))
  }
  await refused('ada', { event: 'APPROVED' }, 'approve your own pull is not allowed')
  await refused('ada', { event: 'REQUEST_CHANGES' }, 'reject your own pull is not allowed')
  await refused('bob', { event: 'COMMENT' }, /requires a body or a comment/)
  await refused('bob', { event: 'REQUEST_CHANGES', body: ' ' }, /requires a body or a comment/)
  await refused('bob', { event: 'REQUEST_REVIEW' }, /requested_reviewers/)
  await refused('bob', { event: 'x' }, /^\[Event\]/)
  await refused('bob', { body: 'x', commit_id: '-h' }, /commit_id/)
  await refused('bob', { comments: [{ body: 'x' }] }, '[Path]: Required')
  await refused('bob', { comments: [{ path: 'a\0b' }] }, '[Path]: Required')
  t.equal((await of('anyone', 'POST', '/pulls/1/reviews', {})).status, 401)
  t.equal((await of('ada', 'POST', '/pulls/2/reviews', {})).status, 404)
  const { json } = await of('bob', 'POST', '/pulls/1/reviews', { event: 'APPROVED' })
  const path = `/pulls/1/reviews/${(json as Fields)['id']}`
  await of('bob', 'POST', '/pulls', { title: 'x', head: 'main', base: 'topic' })
  t.equal((await of('bob', 'GET', path.replace('1', '2'))).status, 404, 'of another pull request')
  for (const wrong of ['0', 'x', '99']) {
    t.equal((await of('bob', 'GET', `/pulls/1/reviews/${wrong}`)).status, 404, wrong)
  }
})
