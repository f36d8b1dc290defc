/** Dismissals of reviews over the API: their effect, their message, and who may dismiss. */

import t from 'tap'
import { type Fields, startGatewayWithPull } from '../../../helpers/pulls.js'

t.test('a dismissed review does not count until it is restored', async (t) => {
  const { of, write, open } = await startGatewayWithPull(t)
  await write('topic', 'a')
  await open('topic')
  const rule = { rule_name: 'main', required_approvals: 1 }
  t.equal((await of('ada', 'POST', '/branch_protections', rule)).status, 201)
  const given = await of('root', 'POST', '/pulls/1/reviews', { event: 'APPROVED' })
  const path = `/pulls/1/reviews/${(given.json as Fields)['id']}`
  const message = { message: 'It is stale.' }
  t.match(await of('ada', 'POST', `${path}/dismissals`, message), {
    status: 200,
    json: { dismissed: true, state: 'APPROVED' },
  })
  t.match((await of('ada', 'GET', path)).json, { dismissed: true })
  t.match((await of('ada', 'GET', '/issues/1/comments')).json, [
    { body: 'Dismissed the review of @root: It is stale.', user: { login: 'ada' } },
  ])
  t.equal((await of('ada', 'POST', '/pulls/1/merge', { Do: 'merge' })).status, 405)
  t.match(await of('ada', 'POST', `${path}/undismissals`), {
    status: 200,
    json: { dismissed: false },
  })
  t.equal((await of('ada', 'POST', '/pulls/1/merge', { Do: 'merge' })).status, 200)
})

t.test('all verdicts of the reviewer are dismissed with `priors`', async (t) => {
  const { of, write, open } = await startGatewayWithPull(t)
  await write('topic', 'a')
  await open('topic')
  const reviews: number[] = []
  for (const event of ['APPROVED', 'REQUEST_CHANGES', 'COMMENT']) {
    const { json } = await of('root', 'POST', '/pulls/1/reviews', { event, body: 'x' })
    reviews.push((json as { id: number }).id)
  }
  const [first, second, comment] = reviews
  const dismiss = (id: number | undefined, name: 'ada' | 'bob' | 'anyone' = 'ada') =>
    of(name, 'POST', `/pulls/1/reviews/${id}/dismissals`, { priors: true })
  t.equal((await dismiss(comment)).status, 403, 'a comment counts for nothing')
  t.equal((await dismiss(first, 'anyone')).status, 401)
  t.equal((await dismiss(first, 'bob')).status, 403)
  t.equal((await dismiss(second)).status, 200)
  const { json } = await of('ada', 'GET', '/pulls/1/reviews')
  t.strictSame(
    (json as Fields[]).map(({ dismissed }) => dismissed),
    [true, true, false],
  )
  t.strictSame((await of('ada', 'GET', '/issues/1/comments')).json, [])
})
