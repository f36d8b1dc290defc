/** Labels over the API: created, changed and deleted with write permission. */

import t from 'tap'
import { onOneDatabase } from '../../../helpers/databases.js'
import { startGatewayWithUsers } from '../../../helpers/gateway-with-users.js'

const R = '/repos/ada/r'

await onOneDatabase(t, 'a label is created, read, changed and deleted', async (t, location) => {
  const { as } = await startGatewayWithUsers(t, { location })
  for (const name of ['r', 'other']) await as('ada', 'POST', '/user/repos', { name })
  const made = await as('ada', 'POST', `${R}/labels`, {
    name: 'kind/bug',
    color: '#EE0701',
    description: 'it fails',
    exclusive: true,
  })
  t.equal(made.status, 201)
  const { id } = made.json as { id: number }
  t.strictSame(made.json, {
    id,
    name: 'kind/bug',
    exclusive: true,
    is_archived: false,
    color: 'ee0701',
    description: 'it fails',
    url: `http://code.example.com/api/v1${R}/labels/${id}`,
  })
  t.strictSame((await as('anyone', 'GET', `${R}/labels/${id}`)).json, made.json)
  t.strictSame((await as('anyone', 'GET', `${R}/labels`)).json, [made.json])
  const changed = await as('ada', 'PATCH', `${R}/labels/${id}`, { color: 'abc', is_archived: true })
  t.equal(changed.status, 200)
  t.match(changed.json, { name: 'kind/bug', color: 'aabbcc', is_archived: true, exclusive: true })
  for (const path of [`/repos/ada/other/labels/${id}`, `${R}/labels/99`, `${R}/labels/x`]) {
    for (const method of ['GET', 'PATCH', 'DELETE']) {
      const body = method === 'PATCH' ? { name: 'mine' } : undefined
      t.equal((await as('ada', method, path, body)).status, 404, `${method} ${path}`)
    }
  }
  for (const [method, path] of [
    ['POST', '/labels'] as const,
    ['PATCH', `/labels/${id}`] as const,
    ['DELETE', `/labels/${id}`] as const,
  ]) {
    const body = method === 'DELETE' ? undefined : { name: 'x', color: 'abc' }
    t.equal((await as('bob', method, R + path, body)).status, 403, method)
    t.equal((await as('anyone', method, R + path, body)).status, 401, method)
  }
  t.equal((await as('ada', 'DELETE', `${R}/labels/${id}`)).status, 204)
  t.equal((await as('ada', 'DELETE', `${R}/labels/${id}`)).status, 404)
})

await onOneDatabase(t, 'an invalid label is refused, and a list has pages', async (t, location) => {
  const { as } = await startGatewayWithUsers(t, { location })
  await as('ada', 'POST', '/user/repos', { name: 'r' })
  const add = (body: unknown) => as('ada', 'POST', `${R}/labels`, body)
  for (const color of ['', 'red', '#12345', '#1234567', 'url(x)', '#ggg', '#abc"', '#abc;x', 1]) {
    t.equal((await add({ name: 'x', color })).status, 422, String(color))
  }
  for (const name of ['', '  ', 'a\u0000', 'a\nb', ['x'], 'x'.repeat(256)]) {
    t.equal((await add({ name, color: 'abc' })).status, 422, encodeURI(String(name)).slice(0, 20))
  }
  t.equal((await add({ name: 'x' })).status, 422)
  t.equal((await add({ name: 'x', color: 'abc', description: 'x'.repeat(1_025) })).status, 422)
  for (const name of ['c', 'a', '<b>', "' or 1=1 --"]) await add({ name, color: '000' })
  const first = await as('ada', 'GET', `${R}/labels?limit=3`)
  t.match(first.json, [{ name: "' or 1=1 --" }, { name: '<b>' }, { name: 'a' }])
  t.equal(first.headers['x-total-count'], '4')
  t.match(first.headers['link'], /labels\?limit=3&page=2>; rel="next"/)
})
