/** Requirements of branch protection rules for merges, over the API. */

import t, { type Test } from 'tap'
import type { Name } from '../../../helpers/gateway-with-users.js'
import { type Fields, type GatewayWithPull, startGatewayWithPull } from '../../../helpers/pulls.js'

const NAMES = { enable_merge_whitelist: true, merge_whitelist_usernames: ['bob'] }

async function openGateway(t: Test): Promise<GatewayWithPull> {
  const gateway = await startGatewayWithPull(t)
  await gateway.of('ada', 'PUT', '/collaborators/bob', { permission: 'write' })
  return gateway
}

/** Replaces the rule of main. */
async function rule({ of }: GatewayWithPull, fields: Fields): Promise<void> {
  await of('ada', 'DELETE', '/branch_protections/main')
  const { status, text } = await of('ada', 'POST', '/branch_protections', {
    rule_name: 'main',
    ...fields,
  })
  if (status !== 201) throw new Error(`${status} ${text}`)
}

/** Opens a pull request with one file of that name. Returns its number and head. */
async function aPull(gateway: GatewayWithPull, name: string) {
  const head = await gateway.write(name, name)
  return { number: Number((await gateway.open(name))['number']), head }
}

function merge({ of }: GatewayWithPull, who: Name, number: number, fields: Fields = {}) {
  return of(who, 'POST', `/pulls/${number}/merge`, { Do: 'merge', ...fields })
}

async function isRefused(
  t: Test,
  gateway: GatewayWithPull,
  number: number,
  reason: string,
): Promise<void> {
  const message = `not allowed to merge [reason: ${reason}]`
  t.match(await merge(gateway, 'bob', number), { status: 405, json: { message } })
  t.match(await merge(gateway, 'bob', number, { force_merge: true }), { status: 405 })
}

function review({ of }: GatewayWithPull, who: Name, number: number, event: string) {
  return of(who, 'POST', `/pulls/${number}/reviews`, { event, body: 'Seen.' })
}

t.test('a merge by a user outside the merge whitelist of the rule is refused', async (t) => {
  const gateway = await openGateway(t)
  const { number, head } = await aPull(gateway, 'one')
  await rule(gateway, NAMES)
  const refused = { status: 405, json: { message: 'User not allowed to merge PR' } }
  t.match(await merge(gateway, 'ada', number), refused)
  t.match(await merge(gateway, 'ada', number, { force_merge: true }), refused)
  await gateway.of('ada', 'PATCH', '', { allow_manual_merge: true })
  const manual = { Do: 'manually-merged', MergeCommitID: head }
  t.match(await merge(gateway, 'ada', number, manual), refused)
  t.match(
    await merge(gateway, 'bob', number),
    { status: 200 },
    'a listed user can merge although the rule permits no pushes',
  )
})

t.test('a merge is refused until it has the required official approvals', async (t) => {
  const gateway = await openGateway(t)
  const { number } = await aPull(gateway, 'one')
  const reason = 'Does not have enough approvals'
  await rule(gateway, { required_approvals: 1 })
  await isRefused(t, gateway, number, reason)
  t.match(await review(gateway, 'bob', number, 'APPROVED'), { json: { official: true } })
  const approvers = { enable_approvals_whitelist: true, approvals_whitelist_username: ['root'] }
  await rule(gateway, { required_approvals: 1, ...approvers })
  await isRefused(t, gateway, number, reason)
  t.match(await review(gateway, 'root', number, 'APPROVED'), { json: { official: true } })
  t.match(await review(gateway, 'bob', number, 'APPROVED'), { json: { official: false } })
  await rule(gateway, { required_approvals: 3 })
  await isRefused(t, gateway, number, reason)
  await rule(gateway, { required_approvals: 2 })
  await gateway.of('ada', 'DELETE', '/collaborators/bob')
  await gateway.of('ada', 'PUT', '/collaborators/bob', { permission: 'read' })
  t.match(
    await merge(gateway, 'root', number),
    { status: 405 },
    'an approval of a user who lost write permission does not count',
  )
  await gateway.of('ada', 'PUT', '/collaborators/bob', { permission: 'write' })
  await review(gateway, 'bob', number, 'REQUEST_CHANGES')
  await isRefused(t, gateway, number, reason)
  await review(gateway, 'bob', number, 'APPROVED')
  t.match(await merge(gateway, 'bob', number), { status: 200 })
})

t.test(
  'approvals of an earlier head count, are ignored or are dismissed as the rule requires',
  async (t) => {
    const gateway = await openGateway(t)
    const { number, head } = await aPull(gateway, 'one')
    const reason = 'Does not have enough approvals'
    await review(gateway, 'bob', number, 'APPROVED')
    await rule(gateway, { required_approvals: 1 })
    await gateway.write('one', 'more')
    await rule(gateway, { required_approvals: 1, ignore_stale_approvals: true })
    await isRefused(t, gateway, number, reason)
    const reviews = async () => (await gateway.of('ada', 'GET', `/pulls/${number}/reviews`)).json
    t.match(await reviews(), [{ stale: true, dismissed: false }])
    await rule(gateway, { required_approvals: 1, dismiss_stale_approvals: true })
    await isRefused(t, gateway, number, reason)
    await gateway.write('one', 'and-more')
    t.match(await reviews(), [{ dismissed: true }])
    await gateway.copy.git('push', '--quiet', '--force', gateway.bare, `${head}:refs/heads/one`)
    await isRefused(t, gateway, number, reason)
    await rule(gateway, { required_approvals: 1 })
    await isRefused(t, gateway, number, reason)
    await review(gateway, 'bob', number, 'APPROVED')
    t.match(await merge(gateway, 'bob', number), { status: 200 })
  },
)

t.test('rejections and open review requests block a merge if the rule requires that', async (t) => {
  const gateway = await openGateway(t)
  const { number } = await aPull(gateway, 'one')
  await review(gateway, 'bob', number, 'REQUEST_CHANGES')
  await rule(gateway, { block_on_rejected_reviews: true })
  await isRefused(t, gateway, number, 'There are requested changes')
  await review(gateway, 'bob', number, 'APPROVED')
  await gateway.of('ada', 'POST', `/pulls/${number}/requested_reviewers`, { reviewers: ['root'] })
  await rule(gateway, { block_on_rejected_reviews: true, block_on_official_review_requests: true })
  await isRefused(t, gateway, number, 'There are official review requests')
  await review(gateway, 'root', number, 'APPROVED')
  t.match(await merge(gateway, 'bob', number), { status: 200 })
})

t.test('required statuses, an outdated base and protected files block a merge', async (t) => {
  const gateway = await openGateway(t)
  const { number, head } = await aPull(gateway, 'one')
  const report = (context: string, state: string) =>
    gateway.of('bob', 'POST', `/statuses/${head}`, { context, state })
  const checks = { enable_status_check: true }
  const reason = 'Not all required status checks successful'
  await rule(gateway, checks)
  await isRefused(t, gateway, number, reason)
  await rule(gateway, { ...checks, status_check_contexts: ['ci/*', 'lint'] })
  await report('ci/one', 'success')
  await isRefused(t, gateway, number, reason)
  await report('lint', 'success')
  await report('ci/two', 'pending')
  await isRefused(t, gateway, number, reason)
  await report('ci/two', 'success')
  await report('other', 'failure')
  await rule(gateway, {
    ...checks,
    status_check_contexts: ['ci/*', 'lint'],
    block_on_outdated_branch: true,
  })
  await gateway.write('main', 'meanwhile')
  await isRefused(t, gateway, number, 'The head branch is behind the base branch')
  await rule(gateway, { protected_file_patterns: 'on?' })
  await isRefused(t, gateway, number, 'Changed protected files')
  await rule(gateway, { ...checks, status_check_contexts: ['ci/*', 'lint'] })
  t.match(await merge(gateway, 'bob', number, { Do: 'rebase' }), { status: 200 })
})

t.test('an administrator can override a rule unless it forbids that', async (t) => {
  const gateway = await openGateway(t)
  const { number } = await aPull(gateway, 'one')
  await rule(gateway, { required_approvals: 1, block_admin_merge_override: true })
  t.match(await merge(gateway, 'ada', number, { force_merge: true }), { status: 405 })
  await rule(gateway, { required_approvals: 1 })
  t.match(await merge(gateway, 'ada', number), { status: 405 })
  await isRefused(t, gateway, number, 'Does not have enough approvals')
  const fields = { force_merge: true, delete_branch_after_merge: true }
  await gateway.of('ada', 'POST', '/branch_protections', { rule_name: 'on*' })
  t.match(await merge(gateway, 'ada', number, fields), { status: 200 })
  t.match(
    await gateway.of('ada', 'GET', '/branches/one'),
    { status: 200 },
    'a protected head branch is kept',
  )
})

t.test(
  'the update of a protected head branch is refused if the user may not push to it',
  async (t) => {
    const gateway = await openGateway(t)
    const { number } = await aPull(gateway, 'one')
    await gateway.write('main', 'meanwhile')
    await gateway.of('ada', 'POST', '/branch_protections', { rule_name: 'one' })
    t.match(await gateway.of('bob', 'POST', `/pulls/${number}/update`), { status: 403 })
    await gateway.of('ada', 'PATCH', '/branch_protections/one', { enable_push: true })
    const rebase = await gateway.of('bob', 'POST', `/pulls/${number}/update?style=rebase`)
    t.match(rebase, { status: 403, json: { message: 'branch one is protected from force push' } })
    t.match(await gateway.of('bob', 'POST', `/pulls/${number}/update`), { status: 200 })
  },
)
