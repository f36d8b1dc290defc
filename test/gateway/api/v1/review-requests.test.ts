/** Asking for reviews over the API: of whom, by whom, and until they are written. */

import t from 'tap'
import { type Fields, startPullTown } from '../../../helpers/pulls.js'

t.test('people are asked, once, until they have answered', async (t) => {
  const { of, write, open } = await startPullTown(t)
  await write('topic', 'a')
  await open('topic')
  const ask = (reviewers: readonly string[], name: 'ada' | 'bob' = 'ada') =>
    of(name, 'POST', '/pulls/1/requested_reviewers', { reviewers })
  const asked = async () => {
    const { json } = await of('anyone', 'GET', '/pulls/1')
    const people = (json as { requested_reviewers: Fields[] | null }).requested_reviewers
    return people?.map(({ login }) => login) ?? null
  }
  t.strictSame(await asked(), null)
  const first = await ask(['Bob', 'root', 'bob'])
  t.match(first, {
    status: 201,
    json: [
      { state: 'REQUEST_REVIEW', user: { login: 'bob' }, official: false, stale: false },
      { state: 'REQUEST_REVIEW', user: { login: 'root' }, official: true },
    ],
  })
  t.match(await ask(['bob']), { status: 201, json: [] }, 'who is asked is not asked again')
  t.strictSame(await asked(), ['bob', 'root'])
  await of('bob', 'POST', '/pulls/1/reviews', { event: 'APPROVED' })
  t.strictSame(await asked(), ['root'])
  const back = { reviewers: ['root', 'bob'] }
  t.equal((await of('ada', 'DELETE', '/pulls/1/requested_reviewers', back)).status, 204)
  t.strictSame(await asked(), null)
  t.match((await of('ada', 'GET', '/pulls/1/reviews')).json, [{ state: 'APPROVED' }])
})

t.test('who may not ask, and who cannot be asked', async (t) => {
  const { of, as, write, open } = await startPullTown(t)
  await write('topic', 'a')
  await open('topic')
  const status = async (method: string, body: Fields, name: 'ada' | 'bob' | 'anyone' = 'ada') =>
    (await of(name, method, '/pulls/1/requested_reviewers', body)).status
  for (const method of ['POST', 'DELETE']) {
    t.equal(await status(method, { reviewers: ['root'] }, 'anyone'), 401)
    t.equal(await status(method, { reviewers: ['root'] }, 'bob'), 403)
    t.equal(await status(method, { reviewers: ['nobody'] }), 404)
    t.equal(await status(method, { team_reviewers: ['team'] }), 422)
    t.equal(await status(method, { reviewers: 'root' }), 422)
  }
  t.equal(await status('POST', { reviewers: ['ada'] }), 422, 'who opened it')
  await as('ada', 'PATCH', '/repos/ada/r', { private: true })
  t.equal(await status('POST', { reviewers: ['bob'] }), 422, 'who cannot read it')
})
