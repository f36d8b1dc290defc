/** Blocked users over the API. */

import t from 'tap'
import { onOneDatabase } from '../../../helpers/databases.js'
import { startGatewayWithUsers, visible } from '../../../helpers/gateway-with-users.js'

await onOneDatabase(
  t,
  'a blocked user can no longer act in the repositories of the blocker',
  async (t, location) => {
    const { as } = await startGatewayWithUsers(t, { location })
    await as('ada', 'POST', '/user/repos', { name: 'r', auto_init: true })
    await as('bob', 'POST', '/user/repos', { name: 'own' })
    await as('bob', 'PUT', '/user/following/ada')
    await as('ada', 'PUT', '/user/starred/bob/own')
    await as('bob', 'PUT', '/repos/ada/r/subscription')
    await as('ada', 'PUT', '/repos/ada/r/collaborators/bob')
    const issue = { title: 'Look', assignees: ['bob'] }
    t.equal((await as('ada', 'POST', '/repos/ada/r/issues', issue)).status, 201)
    t.equal((await as('ada', 'PUT', '/user/blocks/bob?note=spam')).status, 204)

    t.match((await as('ada', 'GET', '/user')).json, { followers_count: 0, starred_repos_count: 0 })
    t.equal((await as('bob', 'GET', '/repos/ada/r/subscription')).status, 404)
    t.equal((await as('ada', 'GET', '/repos/ada/r/collaborators/bob')).status, 404)
    t.match((await as('ada', 'GET', '/repos/ada/r/issues/1')).json, { assignees: null })
    const refused = [
      ['POST', '/repos/ada/r/issues', { title: 'x' }],
      ['POST', '/repos/ada/r/issues/1/comments', { body: 'x' }],
      ['POST', '/repos/ada/r/issues/1/reactions', { content: 'heart' }],
      ['POST', '/repos/ada/r/pulls', { title: 'x', head: 'main', base: 'main' }],
      ['POST', '/repos/ada/r/forks', { name: 'f' }],
      ['PUT', '/user/starred/ada/r', undefined],
      ['PUT', '/repos/ada/r/subscription', undefined],
      ['PUT', '/user/following/ada', undefined],
    ] as const
    for (const [method, path, body] of refused) {
      const { status, json } = await as('bob', method, path, body)
      t.match([status, json], [403, { message: 'user is blocked' }], path)
    }
    t.equal((await as('ada', 'PUT', '/user/following/bob')).status, 403)
    t.equal((await as('ada', 'PUT', '/repos/ada/r/collaborators/bob')).status, 403)
    t.equal((await as('bob', 'GET', '/repos/ada/r/issues/1')).status, 200, 'reading is permitted')

    t.equal((await as('ada', 'DELETE', '/user/blocks/bob')).status, 204)
    t.equal((await as('bob', 'PUT', '/user/starred/ada/r')).status, 204)
    const commented = await as('bob', 'POST', '/repos/ada/r/issues/1/comments', { body: 'x' })
    t.equal(commented.status, 201)
  },
)

await onOneDatabase(
  t,
  'a user whom the author of an issue blocks does not comment on it',
  async (t, location) => {
    const { as } = await startGatewayWithUsers(t, { location })
    await as('root', 'POST', '/user/repos', { name: 'r' })
    await as('bob', 'POST', '/repos/root/r/issues', { title: 'Look' })
    await as('root', 'POST', '/repos/root/r/issues', { title: 'Of another author' })
    const comment = (name: 'ada' | 'root', issue: number) =>
      as(name, 'POST', `/repos/root/r/issues/${issue}/comments`, { body: 'x' })
    const { json } = await comment('ada', 1)
    const path = `/repos/root/r/issues/comments/${(json as { id: number }).id}`
    for (const name of ['ada', 'root']) await as('bob', 'PUT', `/user/blocks/${name}`)
    t.equal((await comment('ada', 1)).status, 403)
    t.equal((await comment('ada', 2)).status, 201)
    t.equal((await as('ada', 'PATCH', path, { body: 'y' })).status, 403)
    t.equal((await as('ada', 'POST', `${path}/reactions`, { content: 'heart' })).status, 403)
    t.equal((await comment('root', 1)).status, 201, 'an administrator of the repository')
  },
)

await onOneDatabase(t, 'blocks are listed and checked for the blocker', async (t, location) => {
  const { as, db, ada } = await startGatewayWithUsers(t, { location })
  await as('bob', 'POST', '/orgs', { username: 'club' })
  for (const [place, blocker] of [
    ['/user/blocks', 'root'],
    ['/orgs/club/blocks', 'bob'],
  ] as const) {
    t.equal((await as(blocker, 'GET', `${place}/ada`)).status, 404)
    t.match(await as(blocker, 'DELETE', `${place}/ada`), {
      status: 400,
      json: { message: 'cannot unblock the user' },
    })
    t.equal((await as(blocker, 'PUT', `${place}/ada`)).status, 204)
    t.match(await as(blocker, 'PUT', `${place}/ada`), {
      status: 400,
      json: { message: 'cannot block the user' },
    })
    t.equal((await as(blocker, 'GET', `${place}/ada`)).status, 204)
    const { json, headers } = await as(blocker, 'GET', place)
    t.match([headers['x-total-count'], json], ['1', [{ login: 'ada' }]])
    t.equal((await as(blocker, 'PUT', `${place}/${blocker}`)).status, 400)
    t.equal((await as(blocker, 'PUT', `${place}/club`)).status, 400)
    t.match(await as(blocker, 'PUT', `${place}/ada?note=${'x'.repeat(256)}`), {
      status: 422,
      json: { message: /note/ },
    })
  }
  t.equal((await as('ada', 'GET', '/orgs/club/blocks')).status, 403)
  t.equal((await as('ada', 'PUT', '/orgs/club/blocks/root')).status, 403)
  await as('root', 'DELETE', '/user/blocks/ada')
  await as('bob', 'DELETE', '/orgs/club/blocks/ada')
  await db('owners').where({ id: ada.id }).update({ visibility: 'private' })
  for (const method of ['GET', 'PUT', 'DELETE']) {
    const missing = await as('bob', method, '/user/blocks/absent')
    t.equal(missing.status, 404)
    t.strictSame(visible(await as('bob', method, '/user/blocks/ada')), visible(missing), method)
  }
})
