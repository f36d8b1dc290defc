/** Tasks of the runner: their steps, results, faults, cancellation and report. */

import { readdir } from 'node:fs/promises'
import t from 'tap'
import { Result } from '../../../gateway/runner-protocol/messages.js'
import { jobOf, ranTask } from '../../helpers/ran-task.js'
import { stubRunnerServer } from '../../helpers/stub-runner-server.js'

t.test('steps run in order, with standard error between standard output', async (t) => {
  const { result, steps, stub, context } = await ranTask(
    t,
    jobOf(
      'run: |\n  echo one\n  echo two >&2\n  echo three\n  cat',
      'run: pwd\nname: Where ${{ github.repository }}',
    ),
  )
  t.equal(result, 'SUCCESS')
  t.strictSame(steps, ['SUCCESS', 'SUCCESS'])
  t.match(stub.rows, ['Run echo one', 'one', 'two', 'three', 'Run Where ada/tool', /\/workspace$/])
  t.ok(stub.isLogClosed)
  const { state } = stub.updates.at(-1) ?? {}
  t.match(state, { id: 7n, result: Result.SUCCESS, startedAt: {}, stoppedAt: {} })
  t.match(state?.steps, [
    { id: 0n, logIndex: 0n, logLength: 4n, startedAt: {}, stoppedAt: {} },
    { id: 1n, logIndex: 4n, logLength: 2n },
  ])
  t.strictSame(stub.calls.slice(-2), ['UpdateLog', 'UpdateTask'])
  t.strictSame(await readdir(context.workFolder), [], 'the folder of the task is removed')
})

t.test('a failed step ends the job, except for steps with always() or failure()', async (t) => {
  const { result, steps, stub } = await ranTask(
    t,
    jobOf(
      'run: exit 3',
      'run: echo not this',
      'run: echo always\nif: always()',
      'run: echo failed in ${{ job.status }}\nif: ${{ failure() }}',
      'run: echo not cancelled\nif: cancelled()',
    ),
  )
  t.equal(result, 'FAILURE')
  t.strictSame(steps, ['FAILURE', 'SKIPPED', 'SUCCESS', 'SUCCESS', 'SKIPPED'])
  t.strictSame(stub.rows, [
    'Run exit 3',
    'Error: the step exited with status 3.',
    'Run echo always',
    'always',
    'Run echo failed in ${{ job.status }}'.replace('${{ job.status }}', 'failure'),
    'failed in failure',
  ])
})

t.test('a file or a step that the runner does not support fails with a sentence', async (t) => {
  const rows: ReadonlyArray<readonly [workflow: string, sentence: string]> = [
    ['jobs: {a: {uses: ./x.yaml}}', "'uses' of a job is not supported by this runner yet"],
    ['jobs: {a: {steps: []}, b: {steps: []}}', 'the task has 2 jobs instead of one'],
    ['jobs: {a: {steps: [{name: x}]}}', "column 20: jobs.a.steps[0] must have either 'run'"],
    ['jobs: [', 'Error: line 1'],
    [jobOf('uses: actions/cache@v4'), 'the action actions/cache@v4 was not fetched from this'],
    [jobOf('run: x\nshell: fish'), "the shell 'fish' is not supported by this runner; it has bash"],
    [jobOf('run: x\nworking-directory: none'), "the working-directory 'none' does not exist"],
    [jobOf('run: x\nif: nothing.x'), "the context 'nothing' does not exist"],
    [jobOf('run: x\ntimeout-minutes: soon'), "the timeout-minutes 'soon' is not a positive number"],
    [jobOf('run: echo novalue >> $GITHUB_OUTPUT'), 'a line of GITHUB_OUTPUT is not NAME=VALUE'],
  ]
  for (const [workflow, sentence] of rows) {
    const { result, stub } = await ranTask(t, workflow)
    t.equal(result, 'FAILURE', workflow)
    t.match(stub.rows.at(-1), sentence)
  }
})

t.test('a job that is not started has cancelled steps', async (t) => {
  const workflow = 'env: {A: "${{ no.x }}"}\njobs: {a: {steps: [{run: x}, {run: y}]}}'
  const { result, steps, stub } = await ranTask(t, workflow)
  t.equal(result, 'FAILURE')
  t.strictSame(steps, ['CANCELLED', 'CANCELLED'])
  t.strictSame(stub.rows, ["Error: the context 'no' does not exist."])
})

t.test('a cancelled task ends its step, runs those with always(), and says so', async (t) => {
  const stub = await stubRunnerServer(t)
  stub.onRows = (rows) => {
    stub.isCancelled = rows.includes('waiting')
  }
  const startedAtMs = Date.now()
  const { result, steps } = await ranTask(
    t,
    jobOf(
      'run: |\n  echo waiting\n  sleep 100 & sleep 100',
      'run: echo not this',
      'run: echo cleaned\nif: always()',
      'run: echo cancelled\nif: cancelled()',
    ),
    { stub },
  )
  t.equal(result, 'CANCELLED')
  t.strictSame(steps, ['CANCELLED', 'SKIPPED', 'SUCCESS', 'SUCCESS'])
  t.match(stub.rows.slice(1), [
    'waiting',
    'Error: the step was cancelled.',
    /^Run/,
    'cleaned',
    /^Run/,
    'cancelled',
  ])
  t.ok(Date.now() - startedAtMs < 30_000)
})

t.test('a runner that ends cancels its task', async (t) => {
  const stub = await stubRunnerServer(t)
  const stop = new AbortController()
  stub.onRows = () => stop.abort()
  const { result } = await ranTask(t, jobOf('run: |\n  echo waiting\n  sleep 100'), {
    stub,
    signal: stop.signal,
  })
  t.equal(result, 'CANCELLED')
  t.equal(stub.updates.at(-1)?.state?.result, Result.CANCELLED)
})

t.test('a task that the server has given up is cancelled', async (t) => {
  const stub = await stubRunnerServer(t)
  stub.refusals['UpdateTask'] = ['not_found', 'not_found']
  const { result } = await ranTask(t, jobOf('run: sleep 100'), { stub })
  t.equal(result, 'CANCELLED')
})

t.test('a step or job that takes longer than its timeout fails', async (t) => {
  const slow = await ranTask(t, jobOf('run: sleep 100\ntimeout-minutes: 0.005'))
  t.equal(slow.result, 'FAILURE')
  t.equal(slow.stub.rows.at(-1), 'Error: the step ran longer than 0.005 minutes.')
  const job = 'jobs: {a: {timeout-minutes: 0.005, steps: [{run: sleep 100}, {run: echo x}]}}'
  const slowJob = await ranTask(t, job)
  t.equal(slowJob.result, 'FAILURE')
  t.strictSame(slowJob.steps, ['CANCELLED', 'SKIPPED'])
  t.match(slowJob.stub.rows, ['Run sleep 100', 'Error: the job ran longer than 0.005 minutes.'])
})

t.test('a task that ends while the server is away is reported later', async (t) => {
  const stub = await stubRunnerServer(t)
  stub.refusals['UpdateLog'] = ['unavailable', 'unavailable']
  stub.refusals['UpdateTask'] = ['unavailable', 'internal']
  const { result } = await ranTask(t, jobOf('run: echo kept'), { stub })
  t.equal(result, 'SUCCESS')
  t.strictSame(stub.rows, ['Run echo kept', 'kept'])
  t.equal(stub.updates.at(-1)?.state?.result, Result.SUCCESS)
})
