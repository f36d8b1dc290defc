/** Protocol of runners, as each family speaks it, on both databases. */

import t from 'tap'
import { Result } from '../../../gateway/runner-protocol/messages.js'
import {
  DECLARE,
  FETCH_TASK,
  PING,
  REGISTER,
  UPDATE_LOG,
  UPDATE_TASK,
} from '../../../gateway/runner-protocol/procedures.js'
import { cancelRun } from '../../../gateway/runs/cancel-run.js'
import { readLog } from '../../../sql/runs/task-logs.js'
import { findTask } from '../../../sql/runs/tasks.js'
import { startGatewayWithUsers } from '../../helpers/gateway-with-users.js'
import {
  addRegistrationToken,
  callProcedure,
  type RunnerFamily,
  registerClient,
} from '../../helpers/runner-client.js'
import { type SharedGateway, sharedGateways } from '../../helpers/shared-gateways.js'
import { addWorkflowRepository } from '../../helpers/workflow-repository.js'

const FAMILIES: readonly RunnerFamily[] = ['gitea', 'forgejo']

const WORKFLOW = `
name: CI
on: push
env: { LEVEL: workflow }
jobs:
  build:
    name: Build it
    runs-on: [linux]
    env: { LEVEL: job }
    steps:
      - name: Say
        run: echo hello
      - run: |
          echo one
          echo two
`

const gateways = sharedGateways(t)

async function start(gateway: SharedGateway) {
  const engine = await addWorkflowRepository(gateway)
  return { ...gateway, engine }
}

for (const family of FAMILIES) {
  await gateways.onOneDatabase(`a ${family} runner executes a pushed job`, async (t, gateway) => {
    const { as, db, port, engine } = await start(gateway)
    const ping = await callProcedure(port, PING, { data: 'x' }, { family })
    t.equal(ping.message.data, 'Hello, x!')
    const runner = await registerClient({ port, db, family })
    const declared = await runner.call(DECLARE, { version: 'v2', labels: ['linux', 'big'] })
    t.match(declared.message.runner, { version: 'v2', labels: ['linux', 'big'], token: '' })
    const empty = await runner.call(FETCH_TASK, {})
    t.equal(empty.message.task, undefined, 'without a patience, an idle poll is not held')

    const sha = await engine.commit(WORKFLOW)
    const status = async () =>
      (await as('anyone', 'GET', `/repos/ada/engine/commits/${sha}/status`)).json
    const task = await runner.fetchTask()
    t.match(await status(), { state: 'pending', statuses: [{ context: 'CI / Build it (push)' }] })
    const payload = Buffer.from(task.workflowPayload ?? []).toString()
    t.match(payload, /Build it/)
    t.match(payload, /echo two/)
    t.match(task.context, {
      event_name: 'push',
      ref: 'refs/heads/main',
      ref_name: 'main',
      sha,
      repository: 'ada/engine',
      actor: 'ada',
      run_number: '1',
      job: 'build',
      event: { after: sha },
    })
    t.match(task.secrets['GITHUB_TOKEN'], /^job_[0-9a-f]{40}$/)

    t.equal(await runner.sendRows(task.id, 0, ['one', 'two']), 2)
    const { claimedAtMs = 0, heardAtMs = 0 } = (await findTask(db, Number(task.id))) ?? {}
    t.ok(heardAtMs > claimedAtMs, 'rows show that the runner has received the task')
    t.equal(await runner.sendRows(task.id, 0, ['one', 'two', 'three']), 3, 'an overlap')
    t.equal(await runner.sendRows(task.id, 5, ['six']), 3, 'rows after a gap are not kept')
    t.equal(await runner.report(task.id, Result.UNSPECIFIED), Result.UNSPECIFIED)
    t.equal(await runner.sendRows(task.id, 3, ['four'], true), 4)
    t.equal(await runner.sendRows(task.id, 3, ['four'], true), 4, 'the last call, repeated')
    const late = await runner.call(UPDATE_LOG, {
      taskId: task.id,
      index: 4n,
      rows: [{ content: 'x' }],
    })
    t.match({ status: late.status, code: late.code }, { status: 409, code: 'already_exists' })
    const range = { taskId: Number(task.id), firstRow: 0, rowsMax: 10 }
    const rows = (await readLog(db, range)).map(({ text }) => text)
    t.strictSame(rows, ['one', 'two', 'three', 'four'])
    const middle = await readLog(db, { ...range, firstRow: 1, rowsMax: 2 })
    t.strictSame(
      middle.map(({ text }) => text),
      ['two', 'three'],
    )

    const steps = [{ id: 0n, result: Result.SUCCESS, logIndex: 0n, logLength: 2n }]
    const outputs = { version: '1.2' }
    const state = { id: task.id, result: Result.SUCCESS, steps }
    const ended = await runner.call(UPDATE_TASK, { state, outputs })
    t.strictSame(ended.message.sentOutputs, ['version'])
    t.equal(await runner.report(task.id, Result.FAILURE), Result.SUCCESS, 'the first result stays')
    t.match(await engine.run(1), { status: 'success', workflowName: 'CI', title: 'Change ci.yaml' })
    t.match(await status(), {
      state: 'success',
      statuses: [{ description: /^Successful in \d+s$/ }],
    })
    const idle = { headers: { 'connect-timeout-ms': '1000' } }
    t.equal((await runner.call(FETCH_TASK, {}, idle)).message.task, undefined)
  })
}

await gateways.onOneDatabase('a cancelled job stays cancelled', async (t, gateway) => {
  const { db, port, engine } = await start(gateway)
  const context = await gateway.openContext()
  const runner = await registerClient({ port, db })
  await engine.commit(WORKFLOW)
  const task = await runner.fetchTask()
  await cancelRun(context, await engine.run(1))
  t.match(await engine.run(1), { status: 'cancelling' })
  t.equal(await runner.report(task.id, Result.UNSPECIFIED), Result.CANCELLED)
  t.equal(await runner.report(task.id, Result.SUCCESS), Result.CANCELLED)
  t.match(await engine.run(1), { status: 'cancelled' })

  await engine.commit(`${WORKFLOW}# changed\n`)
  await cancelRun(context, await engine.run(2))
  t.match(await engine.endedRun(2), { status: 'cancelled' }, 'a job without a runner ends directly')
})

await gateways.forEachDatabase('one of many polls gets the job', async (t, gateway) => {
  const { db, port, engine } = await start(gateway)
  const runners = await Promise.all(Array.from({ length: 8 }, () => registerClient({ port, db })))
  const other = await registerClient({ port, db, labels: ['windows'] })
  const headers = { 'connect-timeout-ms': '4999' }
  const poll = () =>
    Promise.all([...runners, other].map((runner) => runner.call(FETCH_TASK, {}, { headers })))
  const polls = poll()
  await engine.commit(WORKFLOW)
  let answers = await polls
  const tasksOf = () => answers.flatMap(({ message }) => message.task ?? [])
  // On a busy machine, the first polls may end before the job exists.
  while (tasksOf().length === 0) answers = await poll()
  const tasks = tasksOf()
  t.equal(tasks.length, 1)
  t.equal(answers.at(-1)?.message.task, undefined, 'a runner without the label gets nothing')
  t.strictSame(await engine.statuses(1), { build: 'running' })
})

await gateways.onSqlite(
  'a job goes to another runner if the first one disconnects',
  async (t, gateway) => {
    const { db, port, engine } = await start(gateway)
    const [first, second] = [await registerClient({ port, db }), await registerClient({ port, db })]
    const gone = new AbortController()
    const headers = { 'connect-timeout-ms': '4999' }
    const lost = first.call(FETCH_TASK, {}, { headers, signal: gone.signal }).catch(() => 'aborted')
    setTimeout(() => gone.abort(), 100)
    t.equal(await lost, 'aborted')
    await engine.commit(WORKFLOW)
    t.ok(await second.fetchTask())
  },
)

await gateways.forEachDatabase('a runner takes the jobs of its scope only', async (t, gateway) => {
  const { bob, db, port, engine, ada } = await start(gateway)
  const foreign = await registerClient({ port, db, scope: { ownerId: bob.id } })
  const owned = await registerClient({ port, db, scope: { ownerId: ada.id } })
  await engine.commit(WORKFLOW)
  const headers = { 'connect-timeout-ms': '1500' }
  t.equal((await foreign.call(FETCH_TASK, {}, { headers })).message.task, undefined)
  const task = await owned.fetchTask()
  const stolen = await foreign.call(UPDATE_TASK, { state: { id: task.id, result: Result.SUCCESS } })
  t.match({ status: stolen.status, code: stolen.code }, { status: 403, code: 'permission_denied' })
  const log = await foreign.call(UPDATE_LOG, { taskId: task.id, rows: [{ content: 'x' }] })
  t.equal(log.code, 'permission_denied')
})

await gateways.onSqlite(
  'wrong credentials and messages are refused with their code',
  async (t, gateway) => {
    const { ask, db, port } = await start(gateway)
    const runner = await registerClient({ port, db })
    const wrong = [
      { 'x-runner-uuid': runner.uuid, 'x-runner-token': 'x' },
      { 'x-runner-uuid': 'x', 'x-runner-token': runner.token },
      {},
    ]
    for (const headers of wrong) {
      const { status, code } = await callProcedure(port, FETCH_TASK, {}, { headers })
      t.strictSame({ status, code }, { status: 401, code: 'unauthenticated' })
    }
    const once = await addRegistrationToken(db, {}, true)
    const register = { name: 'r', token: once, labels: ['linux'] }
    t.equal((await callProcedure(port, REGISTER, register)).status, 200)
    t.equal((await callProcedure(port, REGISTER, register)).code, 'unauthenticated', 'used once')
    t.equal(
      (await callProcedure(port, REGISTER, { ...register, name: '' })).code,
      'invalid_argument',
    )
    const path = '/api/actions/runner.v1.RunnerService/FetchTask'
    t.equal((await ask({ path })).status, 405)
    const unknown = { method: 'POST', path: '/api/actions/runner.v1.RunnerService/FetchSingleTask' }
    t.match(await ask(unknown), { status: 501, json: { code: 'unimplemented' } })
    const headers = { 'content-type': 'application/proto' }
    const body = Buffer.from([0xff, 0xff])
    const ping = '/api/actions/ping.v1.PingService/Ping'
    const malformed = await ask({ method: 'POST', path: ping, headers, body })
    t.match(malformed, { status: 400, json: { code: 'invalid_argument' } })
    const json = await ask({ method: 'POST', path: ping, body: { data: 'y' } })
    t.match(json, { status: 200, json: { data: 'Hello, y!' } })
  },
)

await gateways.onSqlite(
  'an ephemeral runner executes one task and is deleted',
  async (t, gateway) => {
    const { db, port, engine } = await start(gateway)
    const runner = await registerClient({ port, db, isEphemeral: true })
    await engine.commit(WORKFLOW)
    await engine.run(1)
    const task = await runner.fetchTask()
    await engine.commit(`${WORKFLOW}# changed\n`)
    await engine.run(2)
    t.equal((await runner.call(FETCH_TASK, {})).message.task, undefined)
    await runner.report(task.id, Result.SUCCESS)
    t.equal((await runner.call(FETCH_TASK, {})).code, 'unauthenticated')
    t.strictSame(await engine.statuses(2), { build: 'waiting' })
  },
)

t.test('without the feature of the site, the protocol does not exist', async (t) => {
  const environment = { GATEHOUSE_ACTIONS_ENABLED: 'false' }
  const { ask } = await startGatewayWithUsers(t, { environment })
  const path = '/api/actions/ping.v1.PingService/Ping'
  t.equal((await ask({ method: 'POST', path, body: {} })).status, 404)
})
