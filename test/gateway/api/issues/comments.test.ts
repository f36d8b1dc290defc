/** Comments over the API: created, changed and deleted by permitted users. */

import t from 'tap'
import { onOneDatabase } from '../../../helpers/databases.js'
import { startGatewayWithUsers } from '../../../helpers/gateway-with-users.js'

const R = '/repos/ada/r'
const OF = `${R}/issues/1/comments`

await onOneDatabase(t, 'a comment is created, read, changed and deleted', async (t, location) => {
  const { as, db, addUser } = await startGatewayWithUsers(t, { location })
  await addUser('eve')
  for (const name of ['r', 'other']) await as('ada', 'POST', '/user/repos', { name })
  await as('ada', 'POST', `${R}/issues`, { title: 'x' })
  await db('issues').update({ updated_at: 1 })
  const written = await as('bob', 'POST', OF, { body: ' so\u0000 ' })
  t.equal(written.status, 201)
  const { id } = written.json as { id: number }
  t.match(written.json, {
    id,
    body: ' so\u0000 ',
    user: { login: 'bob' },
    assets: [],
    original_author: '',
    html_url: `http://code.example.com/ada/r/issues/1#issuecomment-${id}`,
    issue_url: 'http://code.example.com/ada/r/issues/1',
    pull_request_url: '',
  })
  t.match((await as('ada', 'GET', `${R}/issues/1`)).json, { comments: 1, updated_at: /^20/ })
  const path = `${R}/issues/comments/${id}`
  t.strictSame((await as('anyone', 'GET', path)).json, written.json)
  t.strictSame((await as('anyone', 'GET', OF)).json, [written.json])
  t.match((await as('bob', 'PATCH', path, { body: 'not so' })).json, { id, body: 'not so' })
  t.equal(
    (await as('ada', 'PATCH', path, { body: 'never' })).status,
    200,
    'a user with write permission',
  )
  const own = await as('ada', 'POST', OF, { body: 'mine' })
  const mine = `${R}/issues/comments/${(own.json as { id: number }).id}`
  t.equal((await as('bob', 'PATCH', mine, { body: 'yours' })).status, 403)
  t.equal((await as('bob', 'DELETE', mine)).status, 403)
  for (const method of ['PATCH', 'DELETE']) {
    const body = method === 'PATCH' ? { body: 'x' } : undefined
    t.equal((await as('anyone', method, mine, body)).status, 401)
    const elsewhere = `/repos/ada/other/issues/comments/${id}`
    t.equal((await as('ada', method, elsewhere, body)).status, 404, 'of another repository')
  }
  t.equal((await as('ada', 'GET', `/repos/ada/other/issues/comments/${id}`)).status, 404)
  const earlier = `${OF}/${id}`
  t.match((await as('bob', 'PATCH', earlier, { body: 'by index' })).json, { id, body: 'by index' })
  t.equal(
    (await as('bob', 'PATCH', mine.replace('comments', '1/comments'), { body: 'x' })).status,
    403,
  )
  t.equal((await as('bob', 'DELETE', earlier)).status, 204)
  t.equal((await as('bob', 'DELETE', path)).status, 404)
  for (const body of [{}, { body: '' }, { body: ' \n' }, { body: 1 }, { body: ['x'] }]) {
    t.equal((await as('ada', 'POST', OF, body)).status, 422, JSON.stringify(body))
  }
  t.equal((await as('ada', 'PATCH', mine, { body: ' ' })).status, 422)
  t.equal((await as('anyone', 'POST', OF, { body: 'x' })).status, 401)
  t.equal((await as('ada', 'POST', `${R}/issues/9/comments`, { body: 'x' })).status, 404)
})

await onOneDatabase(t, 'comments are listed by time', async (t, location) => {
  const { as, db } = await startGatewayWithUsers(t, { location })
  await as('ada', 'POST', '/user/repos', { name: 'r' })
  for (const title of ['one', 'two']) await as('ada', 'POST', `${R}/issues`, { title })
  for (const [n, body] of ['a', 'b', 'c'].entries()) {
    await as('ada', 'POST', `${R}/issues/${(n % 2) + 1}/comments`, { body })
  }
  await db('comments').update({ updated_at: db.raw('id * 86400000 + 500') })
  await db('issues').where({ number: 2 }).update({ is_pull: true })
  const bodies = async (path: string) => {
    const { status, json, headers } = await as('anyone', 'GET', path)
    if (status !== 200) return status
    const texts = (json as { body: string }[]).map(({ body }) => body).join()
    return `${texts} of ${headers['x-total-count']}`
  }
  const [first] = (await db('comments').orderBy('id')) as { id: number }[]
  const day = (n: number) => new Date(((first?.id ?? 0) + n) * 86_400_000).toISOString()
  t.equal(await bodies(OF), 'a,c of 2')
  t.equal(await bodies(`${OF}?since=${day(1)}`), 'c of 1')
  t.equal(await bodies(`${OF}?before=${day(0)}`), 'a of 1')
  t.equal(await bodies(`${R}/issues/comments`), 'a,b,c of 3')
  t.equal(await bodies(`${R}/issues/comments?since=${day(1)}&limit=1&page=2`), 'c of 2')
  t.equal(await bodies(`${R}/issues/comments?since=x`), 422)
  t.equal(await bodies(`${OF}?before=x`), 422)
  const [pull] = (await as('ada', 'GET', `${R}/issues/2/comments`)).json as object[]
  t.match(pull, { issue_url: '', pull_request_url: /ada\/r\/pulls\/2$/ })
  await as('ada', 'PATCH', R, { has_issues: false })
  t.equal(await bodies(`${R}/issues/comments`), 'b of 1')
  t.equal(await bodies(`${R}/issues/comments/${first?.id}`), 404)
})
