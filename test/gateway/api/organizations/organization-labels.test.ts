/** Labels of an organization over the API: created by owners, used by all. */

import t from 'tap'
import { onOneDatabase } from '../../../helpers/databases.js'
import { startGatewayWithUsers } from '../../../helpers/gateway-with-users.js'

const L = '/orgs/club/labels'

await onOneDatabase(
  t,
  'owners create organization labels, and all repositories use them',
  async (t, location) => {
    const { as, addOrganization, ada } = await startGatewayWithUsers(t, { location })
    await addOrganization('club', ada)
    const other = await addOrganization('inner', ada, 'private')
    await as('ada', 'POST', '/orgs/club/repos', { name: 'r' })
    await as('ada', 'POST', '/user/repos', { name: 'own' })
    const made = await as('ada', 'POST', L, { name: 'all', color: '#ABC', description: 'd' })
    t.equal(made.status, 201)
    const { id } = made.json as { id: number }
    t.strictSame(made.json, {
      id,
      name: 'all',
      exclusive: false,
      is_archived: false,
      color: 'aabbcc',
      description: 'd',
      url: `http://code.example.com/api/v1${L}/${id}`,
    })
    t.strictSame((await as('anyone', 'GET', `${L}/${id}`)).json, made.json)
    const listed = await as('anyone', 'GET', L)
    t.strictSame([listed.json, listed.headers['x-total-count']], [[made.json], '1'])
    t.strictSame(
      (await as('ada', 'GET', '/repos/club/r/labels')).json,
      [],
      'it is not a label of the repository',
    )

    const issue = await as('ada', 'POST', '/repos/club/r/issues', { title: 'x', labels: [id] })
    t.match(issue.json, { labels: [made.json] })
    const refused = await as('ada', 'POST', '/repos/ada/own/issues', { title: 'x', labels: [id] })
    t.equal(refused.status, 422, 'a repository of another owner')
    for (const path of [`/repos/club/r/labels/${id}`, `/orgs/${other.name}/labels/${id}`]) {
      for (const method of ['GET', 'PATCH', 'DELETE']) {
        const body = method === 'PATCH' ? { name: 'mine' } : undefined
        t.equal((await as('ada', method, path, body)).status, 404, `${method} ${path}`)
      }
    }
    const changed = await as('ada', 'PATCH', `${L}/${id}`, { name: 'every' })
    t.match(changed.json, { id, name: 'every', color: 'aabbcc' })
    for (const [method, path] of [
      ['POST', L] as const,
      ['PATCH', `${L}/${id}`] as const,
      ['DELETE', `${L}/${id}`] as const,
    ]) {
      const body = method === 'DELETE' ? undefined : { name: 'x', color: 'abc' }
      t.equal((await as('bob', method, path, body)).status, 403, method)
      t.equal((await as('anyone', method, path, body)).status, 401, method)
    }
    t.equal(
      (await as('bob', 'GET', '/orgs/inner/labels')).status,
      404,
      'a hidden organization is not disclosed',
    )
    t.equal((await as('ada', 'POST', L, { name: 'x', color: 'red' })).status, 422)
    t.equal((await as('ada', 'DELETE', `${L}/${id}`)).status, 204)
    t.equal((await as('ada', 'DELETE', `${L}/${id}`)).status, 404)
    t.match((await as('ada', 'GET', '/repos/club/r/issues/1')).json, { labels: [] })
  },
)
