/** Branches over the API: in pages by name, and each by a name that may have slashes. */

import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { startGatewayWithRepository } from '../../../helpers/gateway-with-repository.js'
import { refusal } from '../../../helpers/gateway-with-users.js'
import { git as runGit } from '../../../helpers/git-client.js'

type Fields = Record<string, unknown>

const NOT_FOUND = refusal('not found')

t.test('branches are listed by name with their latest commit', async (t) => {
  const { get, as, commits } = await startGatewayWithRepository(t)
  const [, second, third] = commits
  const { status, headers, json } = await get('branches')
  t.equal(status, 200)
  t.match(json, [
    { name: 'feature/x', commit: { id: second, message: 'Fill\n\nwith everything\n' } },
    { name: 'main', protected: false, user_can_push: false, commit: { id: third, added: null } },
  ])
  t.equal((json as Fields[]).length, 2)
  t.equal(headers['x-total-count'], '2')
  const page = await get('branches?limit=1&page=2')
  t.match(page.json, [{ name: 'main' }])
  t.match(page.headers['link'], /\/repos\/ada\/r\/branches\?limit=1&page=1>; rel="first"/)
  t.strictSame((await get('branches?page=9')).json, [])
  const own = await as('ada', 'GET', '/repos/ada/r/branches/main')
  t.match(own.json, { name: 'main', user_can_push: true, commit: { author: { username: 'ada' } } })
  await as('ada', 'PATCH', '/repos/ada/r', { archived: true })
  t.match((await as('ada', 'GET', '/repos/ada/r/branches/main')).json, { user_can_push: false })
})

t.test('a branch is found by its full name only', async (t) => {
  const { get } = await startGatewayWithRepository(t)
  for (const name of ['feature/x', 'feature%2Fx']) {
    t.match(await get(`branches/${name}`), { status: 200, json: { name: 'feature/x' } })
  }
  for (const name of ['feature', 'v1', 'MAIN', 'refs/heads/main', 'main~1', 'main%5E', '-h', '']) {
    const { status, json } = await get(`branches/${name}`)
    t.equal(status, 404, name)
    if (name !== '') t.strictSame(json, NOT_FOUND)
  }
})

t.test('a repository without commits has no branches', async (t) => {
  const { as } = await startGatewayWithRepository(t)
  await as('ada', 'POST', '/user/repos', { name: 'empty' })
  const { status, json, headers } = await as('bob', 'GET', '/repos/ada/empty/branches')
  t.match({ status, json }, { status: 200, json: [] })
  t.equal(headers['x-total-count'], '0')
  t.equal((await as('bob', 'GET', '/repos/ada/empty/branches/main')).status, 404)
})

t.test('the list has the branches of the last push', async (t) => {
  const { get, folder, copy, push, commits } = await startGatewayWithRepository(t)
  const [first] = commits
  const git = (...args: readonly string[]) => runGit(args, { cwd: folder })
  const listed = async () => {
    const { json, headers } = await get('branches')
    const branches = json as { name: string; commit: { id: string } }[]
    t.equal(headers['x-total-count'], String(branches.length))
    return branches.map(({ name, commit }) => `${commit.id} ${name}`).join('\n')
  }
  const present = () => git('for-each-ref', '--format=%(objectname) %(refname:short)', 'refs/heads')
  const changes: Readonly<Record<string, () => Promise<unknown>>> = {
    'no change': async () => {},
    'a new branch': () => push(`${first}:refs/heads/new`),
    'a branch with a name beyond ASCII': () => push(`${first}:refs/heads/grün`),
    'a branch that moved': async () => push(`${await copy.commit('c')}:refs/heads/main`),
    'packed refs': () => git('pack-refs', '--all'),
    'a packed branch': () => push(`${first}:refs/heads/feature/x`),
    'a deleted branch': () => push(':refs/heads/new'),
    'settings that hide a branch from clones': () =>
      git('config', 'uploadpack.hideRefs', 'refs/heads/feature'),
  }
  for (const [name, change] of Object.entries(changes)) {
    await change()
    for (const pauseMs of [0, 60]) {
      await sleep(pauseMs)
      t.equal(await listed(), await present(), `${name}, after ${pauseMs} ms`)
    }
  }
})
