/** Loop of the runner: one task after the other, and a server that is away or refuses. */

import t, { type Test } from 'tap'
import { type RunnerInput, runRunner } from '../../../gateway/own-runner/run-runner.js'
import { createServerClient } from '../../../gateway/own-runner/server-client.js'
import { Result } from '../../../gateway/runner-protocol/messages.js'
import { jobOf, taskContext } from '../../helpers/ran-task.js'
import { until } from '../../helpers/server-processes.js'
import { aTask, type StubServer, stubRunnerServer } from '../../helpers/stub-runner-server.js'

async function inputOf(t: Test, stub: StubServer): Promise<RunnerInput> {
  return { ...(await taskContext(t, stub)), labels: ['linux'], version: '1', isOnce: true }
}

t.test('a runner declares itself, and ends after one task if asked to', async (t) => {
  const stub = await stubRunnerServer(t)
  stub.tasks.push(aTask(jobOf('run: exit 1')), aTask(jobOf('run: echo second')))
  t.equal(await runRunner(await inputOf(t, stub)), Result.FAILURE)
  t.strictSame(stub.calls.slice(0, 2), ['Declare', 'FetchTask'])
  t.equal(stub.tasks.length, 1)
})

t.test('a runner waits for a task, and ends by the signal', async (t) => {
  const stub = await stubRunnerServer(t)
  const stop = new AbortController()
  const input = { ...(await inputOf(t, stub)), isOnce: false, signal: stop.signal }
  const running = runRunner(input)
  stub.onRows = () => {
    if (stub.isLogClosed) stop.abort()
  }
  const polls = async () => stub.calls.filter((name) => name === 'FetchTask').length
  t.ok((await until(polls, (count) => count > 1, 10_000)) > 1, 'it polls again without a task')
  stub.tasks.push(aTask(jobOf('run: echo late')))
  t.equal(await running, Result.SUCCESS)
})

t.test('a runner tries again if the server is away, and ends if it is unknown', async (t) => {
  const stub = await stubRunnerServer(t)
  stub.refusals['Declare'] = ['unavailable']
  stub.refusals['FetchTask'] = ['resource_exhausted']
  stub.tasks.push(aTask(jobOf('run: echo done')))
  const input = await inputOf(t, stub)
  t.equal(await runRunner(input), Result.SUCCESS)
  t.match(stub.calls, ['Declare', 'Declare', 'FetchTask', 'FetchTask'])
  const client = createServerClient(stub.address, { uuid: 'removed', token: 'x' })
  await t.rejects(runRunner({ ...input, client }), { code: 'unauthenticated' })
})

t.test('a runner that is stopped while the server is away ends without a task', async (t) => {
  const stub = await stubRunnerServer(t)
  const client = createServerClient('http://127.0.0.1:1')
  const signal = AbortSignal.timeout(100)
  t.equal(await runRunner({ ...(await inputOf(t, stub)), client, signal }), undefined)
})
