/** Labels of an issue over the API, by ids and names. */

import t from 'tap'
import { onOneDatabase } from '../../../helpers/databases.js'
import { startGatewayWithUsers } from '../../../helpers/gateway-with-users.js'

const R = '/repos/ada/r'
const OF = `${R}/issues/1/labels`

await onOneDatabase(t, 'labels are added, replaced and removed', async (t, location) => {
  const { as, db } = await startGatewayWithUsers(t, { location })
  for (const name of ['r', 'other']) await as('ada', 'POST', '/user/repos', { name })
  await as('bob', 'POST', `${R}/issues`, { title: 'x' })
  const add = async (path: string, name: string) => {
    const { json } = await as('ada', 'POST', `${path}/labels`, { name, color: 'abc' })
    return (json as { id: number }).id
  }
  const [a, b] = [await add(R, 'a'), await add(R, 'b')]
  const foreign = await add('/repos/ada/other', 'c')
  const names = ({ json }: { json: unknown }) =>
    (json as { name: string }[]).map(({ name }) => name).join()
  await db('issues').update({ updated_at: 1 })
  const added = await as('ada', 'POST', OF, { labels: ['a', b] })
  t.strictSame([added.status, names(added)], [200, 'a,b'])
  t.match((await as('ada', 'GET', `${R}/issues/1`)).json, { updated_at: /^20/ })
  t.equal(names(await as('anyone', 'GET', OF)), 'a,b')
  const replaced = await as('ada', 'PUT', OF, { labels: [a, 'a'] })
  t.strictSame([replaced.status, names(replaced)], [200, 'a'])
  for (const labels of [[foreign], ['c'], [a, foreign], ['none'], [1.5], [{}], [[a]], [true]]) {
    for (const method of ['POST', 'PUT']) {
      const refused = await as('ada', method, OF, { labels })
      t.equal(refused.status, 422, `${method} ${JSON.stringify(labels)}`)
    }
  }
  t.equal((await as('ada', 'POST', OF, { labels: 'a' })).status, 422)
  t.equal((await as('ada', 'POST', OF, { labels: Array(101).fill(a) })).status, 422)
  t.equal(names(await as('ada', 'GET', OF)), 'a', 'unchanged')
  t.equal((await as('ada', 'DELETE', `${OF}/${foreign}`)).status, 422)
  t.equal((await as('ada', 'DELETE', `${OF}/x`)).status, 422)
  t.equal((await as('ada', 'DELETE', `${OF}/${a}`)).status, 204)
  t.equal(
    (await as('ada', 'DELETE', `${OF}/${a}`)).status,
    204,
    'the issue does not have this label',
  )
  await as('ada', 'POST', OF, { labels: [a, b] })
  for (const [method, path] of [
    ['POST', OF] as const,
    ['PUT', OF] as const,
    ['DELETE', OF] as const,
    ['DELETE', `${OF}/${a}`] as const,
  ]) {
    const body = method === 'DELETE' ? undefined : { labels: [] }
    t.equal((await as('bob', method, path, body)).status, 403, 'the author may not write')
  }
  t.equal((await as('ada', 'DELETE', OF)).status, 204)
  t.equal(names(await as('ada', 'GET', OF)), '')
  t.equal((await as('ada', 'GET', `${R}/issues/2/labels`)).status, 404)
})
