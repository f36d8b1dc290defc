/** Branches over the API: created from any revision, renamed and deleted. */

import t, { type Test } from 'tap'
import { type Name, startGatewayWithUsers } from '../../../helpers/gateway-with-users.js'
import { git } from '../../../helpers/git-client.js'

async function scene(t: Test, fields: Record<string, unknown> = { auto_init: true }) {
  const gateway = await startGatewayWithUsers(t)
  await gateway.as('ada', 'POST', '/user/repos', { name: 'r', ...fields })
  const path = await gateway.pathOf('ada', 'r')
  const inside = (...args: readonly string[]) => git(args, { cwd: path })
  const branches = (name: Name, method: string, rest = '', body?: unknown) =>
    gateway.as(name, method, `/repos/ada/r/branches${rest}`, body)
  const create = (body: unknown, name: Name = 'ada') => branches(name, 'POST', '', body)
  const commit = (path: string, body: Record<string, unknown>) =>
    gateway.as('ada', 'POST', `/repos/ada/r/contents/${path}`, { content: '', ...body })
  return { ...gateway, inside, branches, create, commit }
}

t.test('a branch is created from the given revision', async (t) => {
  const { create, inside, commit } = await scene(t)
  await commit('second', { new_branch: 'side/one' })
  const [main, side] = await Promise.all(
    ['main', 'side/one'].map((name) => inside('rev-parse', name)),
  )
  await inside('tag', '-a', '-m', 'One', 'v1', 'main')
  const cases: ReadonlyArray<readonly [Record<string, string>, string | undefined]> = [
    [{}, main],
    [{ old_branch_name: 'side/one' }, side],
    [{ old_ref_name: 'side/one', old_branch_name: 'main' }, side],
    [{ old_ref_name: 'v1' }, main],
    [{ old_ref_name: 'refs/heads/side/one' }, side],
    [{ old_ref_name: side ?? '' }, side],
  ]
  for (const [at, [from, tip]] of cases.entries()) {
    const made = await create({ new_branch_name: `b/${at}`, ...from })
    t.match(
      made,
      { status: 201, json: { name: `b/${at}`, commit: { id: tip }, user_can_push: true } },
      JSON.stringify(from),
    )
    t.equal(await inside('rev-parse', `refs/heads/b/${at}`), tip)
  }
})

t.test('an invalid branch name or start is refused with the reason', async (t) => {
  const { create, inside, as, branches } = await scene(t)
  await inside('tag', 'v1', 'main')
  await inside('branch', 'a/b', 'main')
  const before = await inside('for-each-ref')
  const refused = async (body: unknown, status: number, message: string | RegExp) =>
    t.match(await create(body), { status, json: { message } }, JSON.stringify(body))
  await refused({ new_branch_name: 'main' }, 409, 'The branch already exists.')
  await refused({ new_branch_name: 'v1' }, 409, 'The branch with the same tag already exists.')
  for (const new_branch_name of ['a', 'a/b/c', 'main/x']) {
    await refused({ new_branch_name }, 409, 'The branch with the same name already exists.')
  }
  for (const old_ref_name of ['absent', 'main~1', '--output=/tmp/x', 'HEAD:README.md', 'a..b']) {
    await refused({ new_branch_name: 'n', old_ref_name }, 404, 'The old branch does not exist')
  }
  await refused(
    { new_branch_name: 'n', old_branch_name: 'v1' },
    404,
    'The old branch does not exist',
  )
  await refused({}, 422, '[BranchName]: Required')
  await refused({ new_branch_name: '' }, 422, '[BranchName]: Required')
  for (const new_branch_name of ['-x', 'a..b', 'a b', 'x.lock', '@', 'HEAD', '.git', 'a/.git']) {
    await refused({ new_branch_name }, 422, /branch name/)
  }
  t.match(await create({ new_branch_name: 'n' }, 'bob'), { status: 403 })
  t.match(await create({ new_branch_name: 'n' }, 'anyone'), { status: 401 })
  await as('ada', 'PATCH', '/repos/ada/r', { archived: true })
  await refused({ new_branch_name: 'n' }, 423, 'repo is archived')
  t.match(await branches('ada', 'DELETE', '/a/b'), { status: 423 })
  t.match(await branches('ada', 'PATCH', '/a/b', { name: 'c' }), { status: 423 })
  t.equal(await inside('for-each-ref'), before)
})

t.test('a branch in an empty repository is refused', async (t) => {
  const { create, commit, inside } = await scene(t, {})
  const refused = { status: 404, json: { message: 'Git Repository is empty.' } }
  t.match(await create({ new_branch_name: 'x' }), refused)
  t.match(
    await commit('a', { branch: 'dev' }),
    { status: 201 },
    'a first file can create any branch',
  )
  t.equal(await inside('for-each-ref', '--format=%(refname)'), 'refs/heads/dev')
  t.match(await commit('b', { branch: 'other' }), { status: 404 })
  t.match(await commit('b', {}), { status: 201 }, 'the default branch is a valid start')
  t.match(await create({ new_branch_name: 'x' }), { status: 201 })
})

t.test('of ten concurrent creations of one branch one succeeds', async (t) => {
  const { create } = await scene(t)
  const made = await Promise.all(Array.from({ length: 10 }, () => create({ new_branch_name: 'x' })))
  t.strictSame(made.map(({ status }) => status).sort(), [201, ...Array(9).fill(409)])
})

t.test('a branch is deleted, and the default branch is not', async (t) => {
  const { branches, create, inside } = await scene(t)
  await create({ new_branch_name: 'a/b' })
  t.match(await branches('bob', 'DELETE', '/a/b'), { status: 403 })
  t.match(await branches('ada', 'DELETE', '/a%2Fb'), { status: 204, text: '' })
  t.match(await branches('ada', 'DELETE', '/a/b'), { status: 404 })
  t.match(await branches('ada', 'DELETE', '/--help'), { status: 404 })
  t.match(await branches('ada', 'DELETE', '/main'), {
    status: 403,
    json: { message: 'can not delete default branch' },
  })
  t.equal(await inside('for-each-ref', '--format=%(refname)'), 'refs/heads/main')
  t.match(await create({ new_branch_name: 'a' }), { status: 201 }, 'its folder is deleted as well')
})

t.test('a branch is renamed by writers, and the default branch by administrators', async (t) => {
  const { branches, create, inside, as } = await scene(t)
  await create({ new_branch_name: 'a' })
  const tip = await inside('rev-parse', 'a')
  t.match(await branches('ada', 'PATCH', '/a', { name: 'b/c' }), { status: 204, text: '' })
  t.equal(await inside('rev-parse', 'b/c'), tip)
  const names = () => inside('for-each-ref', '--format=%(refname:short)')
  t.equal(await names(), 'b/c\nmain')
  t.match(await branches('ada', 'PATCH', '/a', { name: 'x' }), { status: 404 })
  for (const name of ['main', 'b', 'b/c', '-x', '']) {
    t.match(await branches('ada', 'PATCH', '/b/c', { name }), { status: 422 }, name)
  }
  t.match(await branches('ada', 'PATCH', '/main', { name: 'trunk' }), { status: 204 })
  t.match((await as('ada', 'GET', '/repos/ada/r')).json, { default_branch: 'trunk' })
  t.equal(await inside('symbolic-ref', 'HEAD'), 'refs/heads/trunk')
  t.equal(await names(), 'b/c\ntrunk')
})
