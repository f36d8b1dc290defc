/** Collaborators over the API: added, listed, checked and removed. */

import t from 'tap'
import { onOneDatabase } from '../../../helpers/databases.js'
import { type Name, startGatewayWithUsers } from '../../../helpers/gateway-with-users.js'

const ALL = '/repos/ada/r/collaborators'

await onOneDatabase(
  t,
  'a collaborator has the granted permission until it is removed',
  async (t, location) => {
    const { as } = await startGatewayWithUsers(t, { location })
    await as('ada', 'POST', '/user/repos', { name: 'r', private: true })
    const mode = async () => {
      const { json, status } = await as('bob', 'GET', '/repos/ada/r')
      return status === 200 ? (json as { permissions: object }).permissions : status
    }
    t.equal(await mode(), 404)
    t.equal((await as('ada', 'GET', `${ALL}/bob`)).status, 404)
    for (const [permission, push, admin] of [
      ['read', false, false] as const,
      ['admin', true, true] as const,
      [undefined, true, false] as const,
    ]) {
      t.equal((await as('ada', 'PUT', `${ALL}/BOB`, { permission })).status, 204)
      t.strictSame(await mode(), { pull: true, push, admin }, permission ?? 'by default')
      const { json } = await as('bob', 'GET', `${ALL}/bob/permission`)
      const word = permission ?? 'write'
      t.match(json, { permission: word, role_name: word, user: { login: 'bob' } })
    }
    t.equal((await as('ada', 'GET', `${ALL}/bob`)).status, 204)
    t.match(await as('bob', 'GET', ALL), {
      headers: { 'x-total-count': '1' },
      json: [{ login: 'bob', email: 'bob@example.com' }],
    })
    t.equal((await as('ada', 'DELETE', `${ALL}/bob`)).status, 204)
    t.equal((await as('ada', 'DELETE', `${ALL}/bob`)).status, 204)
    t.equal(await mode(), 404, 'immediately')
  },
)

await onOneDatabase(
  t,
  'only administrators of the repository add collaborators',
  async (t, location) => {
    const { as, db, addUser, addOrganization, ada } = await startGatewayWithUsers(t, { location })
    await as('ada', 'POST', '/user/repos', { name: 'r' })
    await addOrganization('club', ada)
    const hidden = await addUser('hidden')
    await db('owners').where({ id: hidden.id }).update({ visibility: 'private' })
    const statuses = async (name: Name, method: string, path: string) =>
      (await as(name, method, path, method === 'PUT' ? {} : undefined)).status
    t.equal(await statuses('bob', 'PUT', `${ALL}/bob`), 403)
    t.equal(await statuses('bob', 'DELETE', `${ALL}/bob`), 403)
    t.equal(await statuses('anyone', 'GET', ALL), 401)
    t.equal(await statuses('bob', 'GET', ALL), 200)
    t.equal(await statuses('bob', 'GET', `${ALL}/ada/permission`), 403)
    t.equal(await statuses('bob', 'GET', `${ALL}/bob/permission`), 200)
    t.equal(await statuses('ada', 'PUT', `${ALL}/ada`), 422)
    for (const name of ['absent', 'club', 'hidden']) {
      t.equal(await statuses('ada', 'PUT', `${ALL}/${name}`), 404, name)
    }
    t.equal((await as('ada', 'PUT', `${ALL}/bob`, { permission: 'owner' })).status, 422)
    t.equal(await statuses('root', 'PUT', `${ALL}/hidden`), 204)
    t.strictSame((await as('bob', 'GET', ALL)).json, [], 'a private user is not listed')
    t.match((await as('root', 'GET', ALL)).json, [{ login: 'hidden' }])
  },
)
