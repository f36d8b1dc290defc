/** Dependencies and pins of issues: changed, listed, and enforced. */

import t from 'tap'
import { DEPENDENCIES_MAX } from '../../../../sql/issues/dependencies.js'
import { createIssue, findIssue } from '../../../../sql/issues/issues.js'
import { forEachDatabase, onOneDatabase } from '../../../helpers/databases.js'
import { startGatewayWithUsers } from '../../../helpers/gateway-with-users.js'
import { startGatewayWithPull } from '../../../helpers/pulls.js'
import type { Answer } from '../../../helpers/requests.js'

const numbersOf = ({ json }: Answer) =>
  (json as readonly { number: number }[]).map(({ number }) => number)

await forEachDatabase(t, 'an issue closes after the issues it depends on', async (t, location) => {
  const { as, db } = await startGatewayWithUsers(t, { location })
  const issues = '/repos/ada/r/issues'
  await as('ada', 'POST', '/user/repos', { name: 'r' })
  await as('ada', 'POST', '/user/repos', { name: 'secret', private: true })
  for (const title of ['one', 'two', 'three']) await as('ada', 'POST', issues, { title })
  await as('ada', 'POST', '/repos/ada/secret/issues', { title: 'hidden' })
  const named = (index: number, repo = 'r') => ({ index, owner: 'ada', repo })
  const add = await as('ada', 'POST', `${issues}/1/dependencies`, named(2))
  t.match(add, { status: 201, json: { number: 1 } })
  t.match(await as('ada', 'POST', `${issues}/3/blocks`, { index: 2 }), {
    status: 201,
    json: { number: 3 },
  })
  t.equal((await as('ada', 'POST', `${issues}/1/dependencies`, named(2))).status, 409)
  for (const from of [1, 2, 3]) {
    const path = `${issues}/${from}/dependencies`
    t.equal((await as('ada', 'POST', path, named(1))).status, 422, `${from} on 1`)
  }
  await as('ada', 'POST', `${issues}/1/dependencies`, named(1, 'secret'))
  t.strictSame(numbersOf(await as('ada', 'GET', `${issues}/1/dependencies`)), [1, 2])
  const seen = await as('anyone', 'GET', `${issues}/1/dependencies`)
  t.strictSame(numbersOf(seen), [2], 'without the issue of the private repository')
  t.equal(seen.headers['x-total-count'], '1')
  t.strictSame(numbersOf(await as('anyone', 'GET', `${issues}/2/blocks`)), [1])
  const missing = await as('bob', 'POST', `${issues}/1/blocks`, named(1, 'none'))
  const secret = await as('bob', 'POST', `${issues}/1/blocks`, named(1, 'secret'))
  t.strictSame([secret.status, secret.text], [404, missing.text], 'a private issue looks missing')
  t.equal((await as('bob', 'POST', `${issues}/1/dependencies`, named(3))).status, 404)
  const closed = { state: 'closed' }
  const refused = await as('ada', 'PATCH', `${issues}/1`, closed)
  t.match(refused, { status: 412, json: { message: /still has open dependencies/ } })
  t.equal((await as('ada', 'PATCH', `${issues}/3`, closed)).status, 201)
  t.equal((await as('ada', 'PATCH', `${issues}/2`, closed)).status, 201)
  t.equal((await as('ada', 'PATCH', `${issues}/1`, closed)).status, 412)
  const remove = () => as('ada', 'DELETE', `${issues}/1/dependencies`, named(1, 'secret'))
  t.equal((await remove()).status, 201)
  t.equal((await remove()).status, 404)
  t.equal((await as('ada', 'PATCH', `${issues}/1`, closed)).status, 201)
  t.match((await as('anyone', 'GET', `${issues}/1/timeline`)).json, [
    { type: 'add_dependency', dependent_issue: { number: 2 } },
    { type: 'close' },
  ])
  const other = await findIssue(db, 1, 3)
  const { id = 0, repositoryId = 0, authorId = 0 } = other ?? {}
  const fields = { repositoryId, authorId, isPull: false, title: 'x', content: '' }
  for (let added = 0; added < DEPENDENCIES_MAX; added += 1) {
    const { id: dependency_id } = await createIssue(db, fields)
    await db('issue_dependencies').insert({ issue_id: id, dependency_id, created_at: 1 })
  }
  const full = await as('ada', 'POST', `${issues}/3/dependencies`, named(1))
  t.match(full, { status: 422, json: { message: /at most 100/ } })
})

await onOneDatabase(t, 'a pull request merges after the issue it depends on', async (t, at) => {
  const { of, write, open } = await startGatewayWithPull(t, { location: at })
  await write('topic', 'a')
  await of('ada', 'POST', '/issues', { title: 'first' })
  await open('topic')
  t.equal((await of('ada', 'POST', '/issues/2/dependencies', { index: 1 })).status, 201)
  t.equal((await of('ada', 'PATCH', '/pulls/2', { state: 'closed' })).status, 412)
  const merge = () => of('ada', 'POST', '/pulls/2/merge', { Do: 'merge' })
  t.match(await merge(), { status: 405, json: { message: /open dependency/ } })
  await of('ada', 'PATCH', '/issues/1', { state: 'closed' })
  t.equal((await merge()).status, 200)
})

await forEachDatabase(t, 'administrators pin issues and order them', async (t, location) => {
  const { of, write, open } = await startGatewayWithPull(t, { location })
  for (const title of ['1', '2', '3', '4']) await of('ada', 'POST', '/issues', { title })
  await write('topic', 'a')
  await open('topic')
  const pinned = async () => numbersOf(await of('anyone', 'GET', '/issues/pinned'))
  t.strictSame(await pinned(), [])
  for (const number of [1, 2, 3, 3]) {
    t.equal((await of('ada', 'POST', `/issues/${number}/pin`)).status, 204)
  }
  t.match(await of('ada', 'POST', '/issues/4/pin'), { status: 400, json: { message: /at most 3/ } })
  t.equal((await of('ada', 'POST', '/issues/5/pin')).status, 204, 'pull requests are counted apart')
  t.strictSame(numbersOf(await of('anyone', 'GET', '/pulls/pinned')), [5])
  t.match((await of('ada', 'GET', '/pulls/5')).json, { pin_order: 1 })
  const allowed = await of('anyone', 'GET', '/new_pin_allowed')
  t.strictSame(allowed.json, { issues: false, pull_requests: true })
  t.equal((await of('ada', 'PATCH', '/issues/3/pin/1')).status, 204)
  t.strictSame(await pinned(), [3, 1, 2])
  t.equal((await of('ada', 'PATCH', '/issues/3/pin/9')).status, 204)
  t.strictSame(await pinned(), [1, 2, 3])
  t.match((await of('anyone', 'GET', '/issues/2')).json, { pin_order: 2 })
  t.equal((await of('ada', 'DELETE', '/issues/1/pin')).status, 204)
  t.equal((await of('ada', 'DELETE', '/issues/1/pin')).status, 204, 'and again')
  t.equal((await of('ada', 'PATCH', '/issues/1/pin/1')).status, 404)
  t.strictSame(await pinned(), [2, 3])
  t.match((await of('anyone', 'GET', '/issues/3')).json, { pin_order: 2 })
  t.equal((await of('bob', 'POST', '/issues/4/pin')).status, 403)
  await of('ada', 'DELETE', '/issues/2')
  t.strictSame(await pinned(), [3])
  const { json } = await of('anyone', 'GET', '/issues/1/timeline')
  t.match(json, [{ type: 'pin' }, { type: 'unpin' }])
})
