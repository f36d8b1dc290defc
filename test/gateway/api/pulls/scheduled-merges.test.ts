/** Scheduled merges: made when checks succeed, and cancelled by other changes. */

import t, { type Test } from 'tap'
import { mergeScheduled } from '../../../../gateway/actions/pulls/merge-scheduled.js'
import type { Context } from '../../../../gateway/request/context.js'
import { findScheduledMerge } from '../../../../sql/pulls/scheduled-merges.js'
import { onOneDatabase } from '../../../helpers/databases.js'
import { type GatewayOptions, openContext } from '../../../helpers/gateway.js'
import { git } from '../../../helpers/git-client.js'
import { type Fields, startGatewayWithPull } from '../../../helpers/pulls.js'
import { until } from '../../../helpers/server-processes.js'

const WAIT_MS = 60_000
const WISH = { Do: 'squash', merge_when_checks_succeed: true }

async function startScene(t: Test, options: GatewayOptions = {}) {
  const gateway = await startGatewayWithPull(t, options)
  const { as, of, write, open, db } = gateway
  const head = await write('topic', 'a')
  await open('topic')
  return {
    ...gateway,
    head,
    input: (body: Fields = {}, name: 'ada' | 'bob' = 'ada') =>
      of(name, 'POST', '/pulls/1/merge', { ...WISH, ...body }),
    say: (state: string, context = 'ci') =>
      as('ada', 'POST', `/repos/ada/r/statuses/${head}`, { state, context }),
    cancel: (name: 'ada' | 'bob' | 'root' = 'ada') => of(name, 'DELETE', '/pulls/1/merge'),
    isScheduled: async () => (await findScheduledMerge(db, 1)) !== undefined,
    isMerged: async () => (await of('ada', 'GET', '/pulls/1/merge')).status === 204,
  }
}

await onOneDatabase(
  t,
  'a scheduled merge waits until all checks have succeeded',
  async (t, location) => {
    const { of, input, say, isMerged, isScheduled, bare } = await startScene(t, { location })
    await say('pending', 'lint')
    const title = { MergeTitleField: 'Said before', delete_branch_after_merge: true }
    const scheduled = await input(title)
    t.match([scheduled.status, scheduled.text], [201, ''])
    t.match(await input(), { status: 409, json: { message: /already scheduled/ } })
    await say('success', 'ci')
    t.equal(await isScheduled(), true)
    t.equal(await isMerged(), false, 'one of two checks')
    await say('success', 'lint')
    t.equal(await until(isMerged, Boolean, WAIT_MS), true)
    t.match((await of('ada', 'GET', '/pulls/1')).json, { merged_by: { login: 'ada' } })
    t.equal(await git(['log', '-1', '--format=%s', 'main'], { cwd: bare }), 'Said before')
    const branches = () => git(['for-each-ref', '--format=%(refname)', 'refs/heads'], { cwd: bare })
    const isAlone = (names: string) => names === 'refs/heads/main'
    t.equal(await until(branches, isAlone, WAIT_MS), 'refs/heads/main')
    t.equal(await isScheduled(), false)
  },
)

t.test('a pull request that is ready is merged immediately', async (t) => {
  const { input, say, isMerged } = await startScene(t)
  await say('success')
  t.equal((await input()).status, 200)
  t.equal(await isMerged(), true)
})

t.test(
  'a merge is scheduled by users who may merge and cancelled by permitted users',
  async (t) => {
    const { of, as, input, cancel, isScheduled } = await startScene(t)
    t.equal((await input({}, 'bob')).status, 405)
    t.equal((await input({ head_commit_id: '0'.repeat(40) })).status, 409)
    t.equal((await input({ Do: 'x' })).status, 422)
    t.equal((await cancel()).status, 404, 'no merge is scheduled')
    t.equal((await input()).status, 201)
    await as('ada', 'PUT', '/repos/ada/r/collaborators/bob', { permission: 'write' })
    t.equal((await cancel('bob')).status, 403)
    t.equal((await of('anyone', 'DELETE', '/pulls/1/merge')).status, 401)
    t.equal((await cancel('root')).status, 204)
    t.equal(await isScheduled(), false)
    t.equal((await input({}, 'bob')).status, 201)
    t.equal((await cancel('bob')).status, 204)
  },
)

t.test('a scheduled merge ends if the head changes or the pull request is closed', async (t) => {
  const { of, input, write, isScheduled } = await startScene(t)
  await input()
  await write('topic', 'b')
  await of('ada', 'GET', '/pulls/1')
  t.equal(await isScheduled(), false, 'another head was pushed')
  for (const path of ['/pulls/1', '/issues/1']) {
    await input()
    t.equal(await isScheduled(), true)
    await of('ada', 'PATCH', path, { state: 'closed' })
    t.equal((await of('ada', 'PATCH', path, { state: 'open' })).status, 201)
    t.equal(await isScheduled(), false, path)
  }
})

t.test('permissions and checks are evaluated again before the scheduled merge', async (t) => {
  const { of, as, head, input, write, isMerged, isScheduled, settings, db, ...gateway } =
    await startScene(t)
  const context = await contextOf(t, { settings, db })
  const make = () => mergeScheduled(context, 1)
  const say = (state: string) => as('ada', 'POST', `/repos/ada/r/statuses/${head}`, { state })
  await as('ada', 'PUT', '/repos/ada/r/collaborators/bob', { permission: 'write' })
  await input({}, 'bob')
  await as('ada', 'DELETE', '/repos/ada/r/collaborators/bob')
  await say('success')
  t.equal(await until(isScheduled, (is) => !is, WAIT_MS), false, 'bob lost write permission')
  t.equal(await isMerged(), false)
  await say('failure')
  await input()
  await of('ada', 'PATCH', '/pulls/1', { title: 'WIP: x' })
  await db('commit_statuses').update({ state: 'success' })
  await make()
  t.strictSame([await isMerged(), await isScheduled()], [false, true], 'a draft is not merged')
  await of('ada', 'PATCH', '/pulls/1', { title: 'x' })
  await gateway.copy.git('push', '--quiet', '--force', gateway.bare, 'main:refs/heads/topic')
  await make()
  t.strictSame([await isMerged(), await isScheduled()], [false, false], 'a push without an event')
  await make()
  await mergeScheduled(context, 99)
})

/** Returns a context over the same data that runs no jobs. */
async function contextOf(t: Test, scene: Pick<Context, 'settings' | 'db'>): Promise<Context> {
  const { context } = await openContext(t)
  return { ...context, ...scene }
}

t.test('a merged pull request stays closed, also as an issue', async (t) => {
  const { of, open, write } = await startScene(t)
  t.equal((await of('ada', 'POST', '/pulls/1/merge', {})).status, 200)
  const turn = (number: number, state: string) => of('ada', 'PATCH', `/issues/${number}`, { state })
  t.match(await turn(1, 'open'), { status: 412, json: { message: /already merged/ } })
  t.equal((await turn(1, 'closed')).status, 201, 'it is already closed')
  await write('next', 'b')
  await open('next')
  await turn(2, 'closed')
  await open('next')
  t.equal((await turn(2, 'open')).status, 409, 'another pull request has its branches')
  await turn(3, 'closed')
  t.equal((await turn(2, 'open')).status, 201)
})
