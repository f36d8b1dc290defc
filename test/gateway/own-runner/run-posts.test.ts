/** Scripts of actions at the start of a step and at the end of a job. */

import t from 'tap'
import { jobOf, ranTask, writeStep } from '../../helpers/ran-task.js'
import { statefulAction } from '../../helpers/stateful-action.js'
import { stubRunnerServer } from '../../helpers/stub-runner-server.js'

t.test('pre, main and post share a state, and post runs in reverse order at the end', async (t) => {
  const { result, stub } = await ranTask(
    t,
    jobOf(
      writeStep(statefulAction()),
      'uses: ./a\nwith: {name: first}',
      'uses: ./a\nname: Second\nwith: {name: second}\nenv: {SET: by step}',
      'run: echo last step',
    ),
  )
  t.equal(result, 'SUCCESS', stub.rows.join('\n'))
  t.strictSame(stub.rows.slice(1), [
    'Run ./a',
    'pre first nothing unset',
    'main first pre, first',
    'Run Second',
    'pre second nothing by step',
    'main second pre, by step',
    'Run echo last step',
    'last step',
    'Post Second',
    'post second pre,main, by step',
    'Post ./a',
    'post first pre,main, second',
  ])
})

t.test('post runs after a failure, but not for a step that was skipped', async (t) => {
  const { result, steps, stub } = await ranTask(
    t,
    jobOf(
      writeStep(statefulAction()),
      'uses: ./a\nwith: {name: first, fails: main}',
      'uses: ./a\nwith: {name: second}',
    ),
  )
  t.equal(result, 'FAILURE')
  t.strictSame(steps, ['SUCCESS', 'FAILURE', 'SKIPPED'])
  t.strictSame(stub.rows.slice(4), [
    'Error: the step exited with status 3.',
    'Post ./a',
    'post first pre,main, first',
  ])
})

t.test('a failure of pre ends the step, and one of post the job', async (t) => {
  const pre = await ranTask(
    t,
    jobOf(writeStep(statefulAction()), 'uses: ./a\nwith: {name: x, fails: pre}'),
  )
  t.equal(pre.result, 'FAILURE')
  t.strictSame(pre.steps, ['SUCCESS', 'FAILURE'])
  t.strictSame(pre.stub.rows.slice(3), [
    'Error: the step exited with status 3.',
    'Post ./a',
    'post x pre, x',
  ])
  const post = await ranTask(
    t,
    jobOf(writeStep(statefulAction()), 'uses: ./a\nwith: {name: x, fails: post}'),
  )
  t.equal(post.result, 'FAILURE')
  t.strictSame(post.steps, ['SUCCESS', 'SUCCESS'])
})

t.test('pre-if and post-if decide whether the scripts run', async (t) => {
  const files = writeStep(statefulAction(', pre-if: failure(), post-if: success()'))
  const uses = 'uses: ./a\nwith: {name: x}'
  const succeeded = await ranTask(t, jobOf(files, uses))
  t.strictSame(succeeded.stub.rows.slice(2), ['main x nothing unset', 'Post ./a', 'post x main, x'])
  const failed = await ranTask(t, jobOf(files, uses, 'run: exit 1', `${uses}\nif: always()`))
  t.strictSame(failed.stub.rows.slice(-3), ['Run ./a', 'pre x nothing x', 'main x pre, x'])
  const faulty = await ranTask(
    t,
    jobOf(writeStep(statefulAction(', post-if: no.such')), 'uses: ./a\nwith: {name: x}'),
  )
  t.equal(faulty.result, 'FAILURE')
  t.equal(faulty.stub.rows.at(-1), "Error: the context 'no' does not exist.")
})

t.test('post runs after a cancellation, and composite actions leave it to the job', async (t) => {
  const stub = await stubRunnerServer(t)
  stub.onRows = (rows) => {
    stub.isCancelled = rows.includes('waiting')
  }
  const wrapper = 'runs: {using: composite, steps: [{uses: ./a, with: {name: inner}}]}'
  const { result, steps } = await ranTask(
    t,
    jobOf(
      writeStep({ ...statefulAction(), 'wrapper/action.yml': wrapper }),
      'uses: ./wrapper',
      'run: echo waiting; sleep 100',
    ),
    { stub },
  )
  t.equal(result, 'CANCELLED')
  t.strictSame(steps, ['SUCCESS', 'SUCCESS', 'CANCELLED'])
  t.strictSame(stub.rows.slice(-4), [
    'waiting',
    'Error: the step was cancelled.',
    'Post ./a',
    'post inner pre,main, inner',
  ])
})
