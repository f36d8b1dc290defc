/** Forks and transfers over the API. */

import { existsSync } from 'node:fs'
import t, { type Test } from 'tap'
import type { DatabaseLocation } from '../../../../conf/database-location.js'
import { forEachDatabase, onOneDatabase } from '../../../helpers/databases.js'
import { BASE_URL } from '../../../helpers/gateway.js'
import { startGatewayWithUsers } from '../../../helpers/gateway-with-users.js'
import { git } from '../../../helpers/git-client.js'
import { withToken } from '../../../helpers/requests.js'

type Fields = Record<string, unknown>

async function startFixture(t: Test, location: DatabaseLocation) {
  const gateway = await startGatewayWithUsers(t, { location })
  await gateway.as('ada', 'POST', '/user/repos', { name: 'r', auto_init: true, description: 'd' })
  await gateway.as('ada', 'POST', '/user/repos', { name: 'shut', private: true })
  return gateway
}

await onOneDatabase(t, 'a fork is an independent repository', async (t, location) => {
  const { as, pathOf } = await startFixture(t, location)
  const made = await as('bob', 'POST', '/repos/ada/r/forks', {})
  t.match(made, {
    status: 202,
    json: {
      full_name: 'bob/r',
      fork: true,
      empty: false,
      private: false,
      description: 'd',
      permissions: { admin: true, push: true, pull: true },
      parent: { full_name: 'ada/r', fork: false, forks_count: 1, permissions: { push: false } },
    },
  })
  t.ok((made.json as { size: number }).size >= 0)
  t.match((await as('anyone', 'GET', '/repos/bob/r')).json, { parent: { full_name: 'ada/r' } })
  t.match((await as('ada', 'GET', '/repos/ada/r')).json, { fork: false, forks_count: 1 })
  const list = await as('anyone', 'GET', '/repos/ada/r/forks')
  t.match(list, { headers: { 'x-total-count': '1' }, json: [{ full_name: 'bob/r' }] })
  t.match((await as('ada', 'GET', '/repos/search?mode=fork')).json, { data: [{ id: Number }] })
  const [one, other] = [await pathOf('ada', 'r'), await pathOf('bob', 'r')]
  const head = await git(['rev-parse', 'main'], { cwd: one })
  t.equal(await git(['rev-parse', 'main'], { cwd: other }), head)
  t.notOk(existsSync(`${other}/objects/info/alternates`))
  for (const [body, message] of [
    [{}, /same name/] as const,
    [{ name: 'second' }, /has a fork/] as const,
  ]) {
    const again = await as('bob', 'POST', '/repos/ada/r/forks', body)
    t.match(again, { status: 409, json: { message } })
  }
  t.equal((await as('ada', 'POST', '/repos/ada/r/forks', { name: 'x' })).status, 409)
  t.equal((await as('root', 'POST', '/repos/ada/r/forks', { name: 'a/b' })).status, 422)
  await as('ada', 'DELETE', '/repos/ada/r')
  const left = (await as('bob', 'GET', '/repos/bob/r')).json as Fields
  t.equal(left['fork'], false, 'it is kept when its parent is deleted')
  t.notOk('parent' in left)
  t.equal(await git(['rev-parse', 'main'], { cwd: other }), head)
})

await onOneDatabase(t, 'a fork has no Actions, even if its parent has', async (t, location) => {
  const { as } = await startFixture(t, location)
  const fields = { has_actions: true, has_releases: false }
  t.match((await as('ada', 'PATCH', '/repos/ada/r', fields)).json, fields)
  const made = await as('bob', 'POST', '/repos/ada/r/forks', {})
  t.match(made.json, { has_actions: false, has_releases: false })
})

await forEachDatabase(
  t,
  'forks and their parents are shown only to callers who may see them',
  async (t, location) => {
    const { as, ask, addToken, addOrganization, ada, bob } = await startFixture(t, location)
    await addOrganization('club', ada)
    await addOrganization('den', ada, 'private')
    await addOrganization('tent', bob, 'limited')
    t.equal((await as('anyone', 'POST', '/repos/ada/r/forks', {})).status, 401)
    t.equal((await as('bob', 'POST', '/repos/ada/shut/forks', {})).status, 404)
    const into = (organization: string) => as('bob', 'POST', '/repos/ada/r/forks', { organization })
    t.equal((await into('club')).status, 403)
    t.equal((await into('den')).status, 404)
    t.equal((await into('absent')).status, 404)
    t.match(await into('tent'), { status: 202, json: { full_name: 'tent/r' } })
    const { plain } = await addToken(bob, 'public-only', 'all')
    const limited = { path: '/api/v1/repos/ada/r/forks', authorization: withToken(plain) }
    t.equal((await ask({ ...limited, method: 'POST', body: {} })).status, 403)
    t.strictSame((await ask(limited)).json, [], 'a limited repository is not public')

    await as('ada', 'PUT', '/repos/ada/shut/collaborators/bob', { permission: 'read' })
    const secret = await as('bob', 'POST', '/repos/ada/shut/forks', { name: 'mine' })
    t.match(secret, { status: 202, json: { private: true, parent: { full_name: 'ada/shut' } } })
    t.equal((await as('anyone', 'GET', '/repos/bob/mine')).status, 404)
    t.strictSame(
      (await as('ada', 'GET', '/repos/ada/shut/forks')).json,
      [],
      "the fork is bob's and private",
    )
    await as('ada', 'DELETE', '/repos/ada/shut/collaborators/bob')
    const later = (await as('bob', 'GET', '/repos/bob/mine')).json as Fields
    t.match(later, { fork: true })
    t.notOk('parent' in later, 'a parent that the caller cannot read any more is left out')
    await as('bob', 'POST', '/orgs/tent/repos', { name: 'own' })
    const limitedFork = await as('ada', 'POST', '/repos/tent/own/forks', {})
    t.match(limitedFork.json, { private: true }, 'a fork of a limited repository is private')
  },
)

await onOneDatabase(t, 'a repository is transferred to another owner', async (t, location) => {
  const { as, ask, authorizationOf, addOrganization, ada } = await startFixture(t, location)
  await addOrganization('club', ada)
  await addOrganization('den', ada)
  const made = await as('ada', 'POST', '/orgs/club/teams', { name: 'w', permission: 'write' })
  const { id } = made.json as { id: number }
  await as('ada', 'PUT', `/teams/${id}/members/bob`)
  const put = { method: 'PUT', path: '/api/packages/ada/generic/tool/1/f' }
  await ask({ ...put, body: Buffer.from('x'), authorization: authorizationOf('ada') })
  await as('ada', 'POST', '/packages/ada/generic/tool/-/link/shut')

  const move = (from: string, body: object) =>
    as('ada', 'POST', `/repos/${from}/transfer`, { team_ids: [], ...body })
  t.equal((await move('ada/shut', { new_owner: 'absent' })).status, 404)
  t.equal((await move('ada/shut', { new_owner: 'ADA' })).status, 422)
  t.equal((await move('ada/shut', {})).status, 422)
  t.equal((await move('ada/shut', { new_owner: 'den', team_ids: [id] })).status, 422)
  t.equal((await as('bob', 'POST', '/repos/ada/r/transfer', { new_owner: 'bob' })).status, 403)
  t.equal((await as('bob', 'GET', '/repos/ada/shut')).status, 404)

  const moved = await move('ada/shut', { new_owner: 'club', team_ids: [id] })
  t.match(moved, { status: 202, json: { full_name: 'club/shut', permissions: { admin: true } } })
  t.match((await as('bob', 'GET', '/repos/club/shut')).json, { permissions: { push: true } })
  t.match((await as('ada', 'GET', '/packages/ada/generic/tool')).json, [{ repository: null }])
  const old = await as('ada', 'GET', '/repos/ada/shut')
  t.match(old, { status: 307, headers: { location: `${BASE_URL}/api/v1/repos/club/shut` } })
  t.equal((await as('anyone', 'GET', '/repos/ada/shut')).status, 404)
  t.match((await move('club/shut', { new_owner: 'den' })).json, { full_name: 'den/shut' })
  t.equal(
    (await as('bob', 'GET', '/repos/den/shut')).status,
    404,
    "permissions of the old owner's team end",
  )
  await as('ada', 'POST', '/user/repos', { name: 'shut' })
  t.equal((await move('den/shut', { new_owner: 'ada' })).status, 422, 'the name is in use')
  t.equal((await as('ada', 'GET', '/repos/ada/shut')).status, 200)
})

await forEachDatabase(t, 'a transfer waits until the new owner accepts', async (t, location) => {
  const { as, bob, addOrganization } = await startFixture(t, location)
  await addOrganization('club', bob)
  const shut = '/repos/ada/shut'
  const move = (body: object) => as('ada', 'POST', `${shut}/transfer`, body)
  await as('bob', 'PUT', '/user/blocks/ada')
  t.match(await move({ new_owner: 'bob' }), { status: 403, json: { message: /blocked/ } })
  await as('bob', 'DELETE', '/user/blocks/ada')
  await as('ada', 'PUT', '/user/blocks/bob')
  t.equal((await move({ new_owner: 'bob' })).status, 403, 'the owner blocks the recipient')
  await as('ada', 'DELETE', '/user/blocks/bob')
  t.equal((await as('bob', 'POST', `${shut}/transfer/accept`)).status, 404)

  const offer = { recipient: { login: 'bob' }, doer: { login: 'ada' }, teams: [] }
  const offered = { full_name: 'ada/shut', repo_transfer: offer }
  t.match(await move({ new_owner: 'bob' }), { status: 201, json: offered })
  t.equal((await move({ new_owner: 'bob' })).status, 409)
  t.match(await as('bob', 'GET', shut), { status: 200, json: offered })
  t.equal((await as('bob', 'PATCH', shut, { description: 'x' })).status, 403, 'it is only read')
  t.equal((await as('anyone', 'GET', shut)).status, 404)
  t.equal((await as('ada', 'POST', `${shut}/transfer/accept`)).status, 403)
  t.equal((await as('anyone', 'POST', `${shut}/transfer/reject`)).status, 401)

  const rejected = await as('bob', 'POST', `${shut}/transfer/reject`)
  t.match(rejected, { status: 200, json: { full_name: 'ada/shut' } })
  t.notOk(Reflect.has(rejected.json as object, 'repo_transfer'))
  t.equal((await as('bob', 'GET', shut)).status, 404, 'the recipient cannot read it any more')

  const made = await as('bob', 'POST', '/orgs/club/teams', { name: 'w', permission: 'write' })
  const { id } = made.json as { id: number }
  t.match(await move({ new_owner: 'club', team_ids: [id] }), {
    status: 201,
    json: { repo_transfer: { recipient: { login: 'club' }, teams: [{ name: 'w' }] } },
  })
  await as('bob', 'POST', '/orgs/club/repos', { name: 'shut' })
  t.equal((await as('bob', 'POST', `${shut}/transfer/accept`)).status, 422, 'the name is in use')
  await as('bob', 'DELETE', '/repos/club/shut')
  const accepted = await as('bob', 'POST', `${shut}/transfer/accept`)
  t.match(accepted, { status: 202, json: { full_name: 'club/shut', permissions: { admin: true } } })
  t.match((await as('bob', 'GET', `/teams/${id}/repos`)).json, [{ full_name: 'club/shut' }])
  t.equal((await as('ada', 'GET', '/repos/club/shut')).status, 404, 'the former owner left')
})

t.test('a branch of the parent is merged into a fork', async (t) => {
  const { as, pathOf } = await startGatewayWithUsers(t)
  await as('ada', 'POST', '/user/repos', { name: 'r', auto_init: true })
  await as('bob', 'POST', '/repos/ada/r/forks', {})
  const write = (who: 'ada' | 'bob', path: string, content = 'YQo=') =>
    as(who, 'POST', `/repos/${who}/r/contents/${path}`, { content })
  const merge = (body: unknown = { branch: 'main' }) =>
    as('bob', 'POST', '/repos/bob/r/merge-upstream', body)
  const [parent, fork] = [await pathOf('ada', 'r'), await pathOf('bob', 'r')]
  const tip = (cwd: string) => git(['rev-parse', 'main'], { cwd })
  t.match(await merge(), { status: 200, json: { merge_type: 'up-to-date' } })

  await write('ada', 'one')
  t.match(await merge(), { status: 200, json: { merge_type: 'fast-forward' } })
  t.equal(await tip(fork), await tip(parent))

  await write('bob', 'own')
  t.match(await merge({}), { json: { merge_type: 'up-to-date' } }, 'the fork is only ahead')
  await write('ada', 'two')
  t.match(await merge({ branch: 'main', ff_only: true }), { status: 400 })
  const before = await tip(fork)
  t.match(await merge(), { status: 200, json: { merge_type: 'merge' } })
  const parents = await git(['rev-parse', 'main^1', 'main^2'], { cwd: fork })
  t.equal(parents, `${before}\n${await tip(parent)}`)

  await write('bob', 'both')
  await write('ada', 'both', 'Ygo=')
  t.equal((await merge()).status, 409, 'a conflict')
  t.equal((await merge({ branch: 'absent' })).status, 404)
  t.equal((await merge({ branch: 'a..b' })).status, 422)
  t.equal((await as('ada', 'POST', '/repos/ada/r/merge-upstream', {})).status, 400, 'no fork')
  t.equal((await as('ada', 'POST', '/repos/bob/r/merge-upstream', {})).status, 403, 'no right')
  await as('ada', 'PATCH', '/repos/ada/r', { private: true })
  t.equal((await merge()).status, 404, 'a parent that became private')
})
