/**
 * Branch protection rules over the API: created, read, changed, ordered, and shown with branches.
 */

import t from 'tap'
import { startGatewayWithUsers } from '../../../helpers/gateway-with-users.js'
import { startGatewayWithPull } from '../../../helpers/pulls.js'

const PATH = '/branch_protections'

t.test('a rule is created, read, changed in part, and deleted', async (t) => {
  const { of } = await startGatewayWithPull(t)
  const made = await of('ada', 'POST', PATH, {
    branch_name: 'main',
    enable_push: true,
    enable_push_whitelist: true,
    push_whitelist_usernames: ['BOB', 'bob', 'ada'],
    required_approvals: 2,
    status_check_contexts: ['ci/*'],
  })
  const rule = {
    rule_name: 'main',
    branch_name: 'main',
    priority: 1,
    required_approvals: 2,
    enable_push: true,
    enable_force_push: false,
    status_check_contexts: ['ci/*'],
    push_whitelist_usernames: ['bob', 'ada'],
    merge_whitelist_usernames: [],
    require_signed_commits: false,
    protected_file_patterns: '',
  }
  t.match(made, { status: 201, json: rule })
  t.match(await of('ada', 'GET', `${PATH}/main`), { status: 200, json: rule })
  const changed = {
    required_approvals: 1,
    push_whitelist_usernames: ['ada'],
    require_signed_commits: true,
  }
  const patch = { ...changed, enable_push: null }
  const expected = { ...rule, ...changed }
  t.match(await of('ada', 'PATCH', `${PATH}/main`, patch), { status: 200, json: expected })
  t.match((await of('ada', 'GET', PATH)).json, [expected])
  t.equal((await of('ada', 'DELETE', `${PATH}/main`)).status, 204)
  t.equal((await of('ada', 'DELETE', `${PATH}/main`)).status, 404)
  t.same((await of('ada', 'GET', PATH)).json, [])
})

t.test('an invalid rule is refused and not stored', async (t) => {
  const { of } = await startGatewayWithPull(t)
  await of('ada', 'POST', PATH, { rule_name: 'main' })
  const cases: readonly (readonly [number, object])[] = [
    [403, { rule_name: 'main' }],
    [400, {}],
    [422, { rule_name: 'a[' }],
    [422, { rule_name: 'x\ny' }],
    [422, { rule_name: 'x', push_whitelist_usernames: ['nobody'] }],
    [422, { rule_name: 'x', merge_whitelist_teams: ['crew'] }],
    [422, { rule_name: 'x', protected_file_patterns: 'a;{b' }],
    [422, { rule_name: 'x', unprotected_file_patterns: '[' }],
    [422, { rule_name: 'x', status_check_contexts: ['{'] }],
    [422, { rule_name: 'x', required_approvals: -1 }],
    [422, { rule_name: 'x', enable_push: 'yes' }],
  ]
  for (const [status, body] of cases) {
    t.equal((await of('ada', 'POST', PATH, body)).status, status, JSON.stringify(body))
  }
  const exists = await of('ada', 'POST', PATH, { rule_name: 'main' })
  t.match(exists.json, { message: 'Branch protection already exist' })
  t.equal((await of('ada', 'PATCH', `${PATH}/x`, {})).status, 404)
  t.match((await of('ada', 'GET', PATH)).json, [{ rule_name: 'main' }])
})

t.test('rules are accessible to administrators of the repository only', async (t) => {
  const { of } = await startGatewayWithPull(t)
  await of('ada', 'PUT', '/collaborators/bob', { permission: 'write' })
  for (const [method, path] of [
    ['GET', PATH],
    ['POST', PATH],
    ['POST', `${PATH}/priority`],
  ] as const) {
    t.equal((await of('bob', method, path, method === 'GET' ? undefined : {})).status, 403)
  }
  await of('ada', 'PATCH', '', { archived: true })
  t.equal((await of('ada', 'POST', PATH, { rule_name: 'x' })).status, 423)
})

t.test('the order of the rules decides which one applies', async (t) => {
  const { of } = await startGatewayWithPull(t)
  const ids: number[] = []
  for (const rule_name of ['m*', 'ma*', 'release/**']) {
    const { json } = await of('ada', 'POST', PATH, { rule_name })
    t.equal((json as { priority: number }).priority, ids.push(ids.length + 1))
  }
  const holding = async () =>
    (await of('ada', 'GET', '/branches/main')).json as Record<string, unknown>
  t.match(await holding(), { effective_branch_protection_name: 'm*' })
  t.equal((await of('ada', 'POST', `${PATH}/priority`, { ids: [2, 1, 99] })).status, 204)
  t.match(await holding(), { effective_branch_protection_name: 'ma*' })
  await of('ada', 'PATCH', `${PATH}/m*`, { priority: 0 })
  t.match(await holding(), { effective_branch_protection_name: 'm*' })
  t.match(await of('ada', 'GET', `${PATH}/release%2F**`), { json: { branch_name: '' } })
  t.match(await of('ada', 'GET', `${PATH}/release/**`), { status: 200 })
})

t.test('a branch shows the effect of its rule for the caller', async (t) => {
  const { of } = await startGatewayWithPull(t)
  await of('ada', 'PUT', '/collaborators/bob', { permission: 'write' })
  await of('ada', 'POST', PATH, {
    rule_name: 'ma*',
    required_approvals: 2,
    enable_status_check: true,
    status_check_contexts: ['ci'],
    enable_push: true,
    enable_push_whitelist: true,
    push_whitelist_usernames: ['bob'],
    enable_merge_whitelist: true,
    merge_whitelist_usernames: ['ada'],
  })
  const common = {
    name: 'main',
    protected: true,
    required_approvals: 2,
    enable_status_check: true,
    status_check_contexts: ['ci'],
  }
  const seen = async (name: 'ada' | 'bob' | 'anyone') => [
    (await of(name, 'GET', '/branches/main')).json,
    ...((await of(name, 'GET', '/branches')).json as unknown[]),
  ]
  const ofAda = { user_can_push: false, user_can_merge: true }
  const ofBob = { user_can_push: true, user_can_merge: false }
  const ofAnyone = { user_can_push: false, user_can_merge: false }
  for (const branch of await seen('ada')) {
    t.match(branch, { ...common, ...ofAda, effective_branch_protection_name: 'ma*' })
  }
  for (const branch of await seen('bob')) {
    t.match(branch, { ...common, ...ofBob, effective_branch_protection_name: '' })
  }
  for (const branch of await seen('anyone')) t.match(branch, { ...common, ...ofAnyone })
})

t.test('teams in a rule are named, and removed if the repository is transferred', async (t) => {
  const { as, bob } = await startGatewayWithUsers(t)
  await as('ada', 'POST', '/orgs', { username: 'club' })
  await as('ada', 'POST', '/orgs/club/repos', {
    name: 'r',
    auto_init: true,
    default_branch: 'main',
  })
  const team = await as('ada', 'POST', '/orgs/club/teams', {
    name: 'Crew',
    permission: 'write',
    includes_all_repositories: true,
    units: ['repo.code'],
  })
  t.equal(team.status, 201, team.text)
  const { id } = team.json as { id: number }
  await as('ada', 'PUT', `/teams/${id}/members/bob`)
  const path = `/repos/club/r${PATH}`
  const fields = { enable_push: true, enable_push_whitelist: true, push_whitelist_teams: ['crew'] }
  const made = await as('ada', 'POST', path, { rule_name: 'main', ...fields })
  t.match(made, { status: 201, json: { push_whitelist_teams: ['Crew'] } })
  const write = (name: 'ada' | 'bob', file: string) =>
    as(name, 'POST', `/repos/club/r/contents/${file}`, { content: 'eA==', branch: 'main' })
  t.equal((await write('bob', 'a')).status, 201, bob.name)
  t.equal((await write('ada', 'b')).status, 403, 'an owner is not in that team')
  await as('ada', 'POST', '/repos/club/r/transfer', { new_owner: 'ada' })
  const moved = await as('ada', 'GET', `/repos/ada/r${PATH}/main`)
  t.match(moved, { status: 200, json: { push_whitelist_teams: [] } })
})
