/** Runners over the API, for each scope: list, disable, delete, registration tokens and access. */

import t, { type Test } from 'tap'
import type { DatabaseLocation } from '../../../../conf/database-location.js'
import { hashToken, newToken } from '../../../../gateway/auth/token.js'
import { FETCH_TASK, REGISTER } from '../../../../gateway/runner-protocol/procedures.js'
import { createRegistrationToken, updateRunner } from '../../../../sql/runners/runners.js'
import { createTask, updateTask } from '../../../../sql/runs/tasks.js'
import { onOneDatabase } from '../../../helpers/databases.js'
import { refusal, startGatewayWithUsers } from '../../../helpers/gateway-with-users.js'
import { withToken } from '../../../helpers/requests.js'
import { aRun, aRunner, jobAt } from '../../../helpers/run-rows.js'
import { callProcedure, registerClient } from '../../../helpers/runner-client.js'
import { addWorkflowRepository } from '../../../helpers/workflow-repository.js'

const NO_SUCH = refusal('not found')

/** Starts a gateway with a runner in each of four scopes. */
async function openFixture(t: Test, location?: DatabaseLocation) {
  const gateway = await startGatewayWithUsers(t, location === undefined ? {} : { location })
  const { as, ada, db, addOrganization } = gateway
  const { id: organizationId } = await addOrganization('club', ada)
  const made = await as('ada', 'POST', '/user/repos', { name: 'r' })
  await as('ada', 'PATCH', '/repos/ada/r', { has_actions: true })
  const repositoryId = (made.json as { id: number }).id
  const scopes = [
    { user: 'ada', place: '/repos/ada/r', scope: { repositoryId } },
    { user: 'ada', place: '/orgs/club', scope: { ownerId: organizationId } },
    { user: 'ada', place: '/user', scope: { ownerId: ada.id } },
    { user: 'root', place: '/admin', scope: {} },
  ] as const
  const runners = []
  for (const { user, place, scope } of scopes) {
    const id = await aRunner(db, ['linux', 'arm'], scope)
    runners.push({ user, path: `${place}/actions/runners`, id, scope })
  }
  return { ...gateway, runners, repositoryId }
}

await onOneDatabase(t, 'the runners of a scope are managed there', async (t, location) => {
  const { as, runners } = await openFixture(t, location)
  for (const { user, path, id } of runners) {
    const runner = {
      id,
      name: 'runner',
      status: 'offline',
      busy: false,
      disabled: false,
      ephemeral: false,
      labels: [
        { id: 1, name: 'linux', type: 'custom' },
        { id: 2, name: 'arm', type: 'custom' },
      ],
    }
    const listed = await as(user, 'GET', path)
    t.strictSame(listed.json, { runners: [runner], total_count: 1 }, path)
    t.equal(listed.headers['x-total-count'], '1')
    t.strictSame((await as(user, 'GET', `${path}/${id}`)).json, runner)
    const patched = await as(user, 'PATCH', `${path}/${id}`, { disabled: true })
    t.strictSame(patched.json, { ...runner, disabled: true })
    t.strictSame((await as(user, 'GET', `${path}/${id}`)).json, { ...runner, disabled: true })
    t.equal((await as(user, 'PATCH', `${path}/${id}`, {})).status, 422)
    await as(user, 'PATCH', `${path}/${id}`, { disabled: false })
    t.match((await as(user, 'GET', `${path}/${id}`)).json, { disabled: false })
  }
  for (const { user, path, id } of runners) {
    t.equal((await as(user, 'DELETE', `${path}/${id}`)).status, 204)
    t.match((await as(user, 'GET', path)).json, { runners: [], total_count: 0 })
    t.equal((await as(user, 'DELETE', `${path}/${id}`)).status, 404)
  }
})

t.test('a runner of another scope is missing', async (t) => {
  const { as, runners } = await openFixture(t)
  for (const { path } of runners) {
    for (const other of runners) {
      if (other.path === path) continue
      for (const [method, body] of [['GET'], ['DELETE'], ['PATCH', { disabled: true }]] as const) {
        const answer = await as('root', method, `${path}/${other.id}`, body)
        t.match(answer, { status: 404, json: NO_SUCH }, `${method} ${path}/${other.id}`)
      }
    }
  }
  for (const { user, path, id } of runners) {
    t.match((await as(user, 'GET', `${path}/${id}`)).json, { disabled: false }, path)
  }
})

t.test('a runner is online after a poll and while it is busy', async (t) => {
  const { as, db, repositoryId, runners } = await openFixture(t)
  const [{ path, id } = { path: '', id: 0 }] = runners
  const state = async () => {
    const { status, busy } = (await as('ada', 'GET', `${path}/${id}`)).json as Record<
      string,
      unknown
    >
    return [status, busy]
  }
  await updateRunner(db, id, { lastSeenAtMs: Date.now() - 70_000 })
  t.strictSame(await state(), ['online', false])
  await updateRunner(db, id, { lastSeenAtMs: Date.now() - 200_000 })
  t.strictSame(await state(), ['offline', false])
  const job = await jobAt(db, await aRun(db, repositoryId), 0)
  const task = { jobId: job.id, repositoryId, runnerId: id, tokenHash: 'a'.repeat(64) }
  const taskId = await createTask(db, task)
  t.strictSame(await state(), ['online', true])
  await updateTask(db, taskId, { stoppedAtMs: Date.now() })
  t.strictSame(await state(), ['offline', false])
})

t.test('a registration token registers runners of its scope until the next one', async (t) => {
  const { as, db, port, runners } = await openFixture(t)
  const register = async (token: string) =>
    (await callProcedure(port, REGISTER, { name: 'new', token, labels: [] })).status
  const once = newToken()
  const site = { ownerId: undefined, repositoryId: undefined }
  const hash = hashToken(once)
  await createRegistrationToken(db, { ...site, hash, isOnce: true, expiresAtMs: undefined })
  for (const { user, path } of runners) {
    const older = path.startsWith('/admin') ? '/admin/runners' : path
    const issue = async (method: string, place: string) =>
      ((await as(user, method, `${place}/registration-token`)).json as { token: string }).token
    const first = await issue('POST', path)
    t.equal(await register(first), 200)
    const second = await issue('GET', older)
    t.equal(await register(first), 401, 'the earlier token is replaced')
    t.equal(await register(second), 200)
    t.equal(await register(second), 200)
    t.match((await as(user, 'GET', path)).json, { total_count: 4 }, path)
  }
  t.equal(await register(once), 200, 'a token for one use is kept')
})

t.test('a disabled runner gets no job, and one when it is enabled again', async (t) => {
  const gateway = await startGatewayWithUsers(t)
  const { as, db, port } = gateway
  const engine = await addWorkflowRepository(gateway)
  const runner = await registerClient({ port, db })
  const { runners } = (await as('root', 'GET', '/admin/actions/runners')).json as {
    runners: { id: number }[]
  }
  const one = `/admin/actions/runners/${runners[0]?.id}`
  await as('root', 'PATCH', one, { disabled: true })
  const run = await aRun(db, engine.repository.id)
  await db('workflow_jobs').where({ run_id: run.id }).update({ status: 'waiting' })
  const answer = await runner.call(FETCH_TASK, {})
  t.equal(answer.status, 200)
  t.equal(answer.message.task, undefined)
  await as('root', 'PATCH', one, { disabled: false })
  t.ok((await runner.call(FETCH_TASK, {})).message.task)
})

t.test('only administrators of a scope manage its runners, and no limited token', async (t) => {
  const { as, ask, ada, addLimitedToken, runners } = await openFixture(t)
  const { plain } = await addLimitedToken(ada, { addresses: ['127.0.0.0/8'] }, 'all')
  const authorization = withToken(plain)
  for (const { path, id } of runners) {
    const requests = [
      ['GET', path],
      ['GET', `${path}/${id}`],
      ['PATCH', `${path}/${id}`],
      ['DELETE', `${path}/${id}`],
      ['POST', `${path}/registration-token`],
    ] as const
    for (const [method, place] of requests) {
      const body = method === 'PATCH' ? { disabled: true } : undefined
      const { status } = await as('bob', method, place, body)
      const expected = path.startsWith('/user') ? [200, 404] : [403]
      t.ok(expected.includes(status), `${method} ${place} by bob: ${status}`)
      t.equal((await as('anyone', method, place, body)).status, 401, `${method} ${place}`)
      if (method === 'GET') continue
      const limited = await ask({ method, path: `/api/v1${place}`, body, authorization })
      t.equal(limited.status, 403, `${method} ${place} by a limited token`)
    }
  }
})
