/** Milestones over the API, by id and by title. */

import t from 'tap'
import { onOneDatabase } from '../../../helpers/databases.js'
import { startGatewayWithUsers } from '../../../helpers/gateway-with-users.js'

const M = '/repos/ada/r/milestones'

await onOneDatabase(t, 'a milestone is created, read, changed and deleted', async (t, location) => {
  const { as } = await startGatewayWithUsers(t, { location })
  for (const name of ['r', 'other']) await as('ada', 'POST', '/user/repos', { name })
  const made = await as('ada', 'POST', M, {
    title: 'v 1/2',
    description: 'first',
    due_on: '2030-02-03T01:00:00+09:00',
  })
  t.equal(made.status, 201)
  const { id } = made.json as { id: number }
  t.match(made.json, {
    id,
    title: 'v 1/2',
    description: 'first',
    state: 'open',
    open_issues: 0,
    closed_issues: 0,
    closed_at: null,
    due_on: '2030-02-03T23:59:59Z',
  })
  await as('ada', 'POST', '/repos/ada/r/issues', { title: 'x', milestone: id })
  for (const name of [String(id), 'v%201%2F2']) {
    t.match((await as('anyone', 'GET', `${M}/${name}`)).json, { id, open_issues: 1 }, name)
  }
  const closed = await as('ada', 'PATCH', `${M}/v%201%2f2`, { state: 'closed', title: 'v2' })
  t.equal(closed.status, 200)
  t.match(closed.json, {
    id,
    title: 'v2',
    state: 'closed',
    closed_at: /^20/,
    description: 'first',
  })
  const titles = async (query: string) => {
    const { json } = await as('ada', 'GET', `${M}?${query}`)
    return (json as { title: string }[]).map(({ title }) => title).join()
  }
  await as('ada', 'POST', M, { title: 'next' })
  t.equal(await titles('state=open'), 'next')
  t.equal(await titles(''), 'v2,next')
  t.equal(await titles('state=closed'), 'v2')
  t.equal(await titles('state=all'), 'v2,next')
  t.equal(await titles('state=all&name=NEX'), 'next')
  const paged = await as('ada', 'GET', `${M}?state=all&limit=1`)
  t.equal(paged.headers['x-total-count'], '2')
  t.match(paged.headers['link'], /milestones\?state=all&limit=1&page=2>; rel="next"/)
  for (const path of [`/repos/ada/other/milestones/${id}`, `${M}/none`]) {
    for (const method of ['GET', 'PATCH', 'DELETE']) {
      const body = method === 'PATCH' ? { title: 'mine' } : undefined
      t.equal((await as('ada', method, path, body)).status, 404, `${method} ${path}`)
    }
  }
  for (const method of ['PATCH', 'DELETE']) {
    const body = method === 'PATCH' ? { title: 'mine' } : undefined
    t.equal((await as('bob', method, `${M}/${id}`, body)).status, 403, method)
  }
  t.equal((await as('ada', 'DELETE', `${M}/v2`)).status, 204)
  t.equal((await as('ada', 'DELETE', `${M}/${id}`)).status, 404)
  t.match((await as('ada', 'GET', '/repos/ada/r/issues/1')).json, { milestone: null })
})

await onOneDatabase(t, 'an invalid milestone is refused', async (t, location) => {
  const { as } = await startGatewayWithUsers(t, { location })
  await as('ada', 'POST', '/user/repos', { name: 'r' })
  for (const body of [
    {},
    { title: '' },
    { title: ' ' },
    { title: 'a\nb' },
    { title: 'x'.repeat(256) },
    { title: 'x', state: 'all' },
    { title: 'x', due_on: '2030' },
    { title: 1 },
  ]) {
    t.equal((await as('ada', 'POST', M, body)).status, 422, JSON.stringify(body).slice(0, 40))
  }
  t.equal((await as('bob', 'POST', M, { title: 'x' })).status, 403)
  t.equal((await as('anyone', 'POST', M, { title: 'x' })).status, 401)
})
