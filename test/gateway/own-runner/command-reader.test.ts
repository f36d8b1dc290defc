/** Workflow commands in the output of steps. */

import t, { type Test } from 'tap'
import { CommandReader } from '../../../gateway/own-runner/command-reader.js'
import { LogSender } from '../../../gateway/own-runner/log-sender.js'
import { createServerClient } from '../../../gateway/own-runner/server-client.js'
import { TaskLog } from '../../../gateway/own-runner/task-log.js'
import { Masker } from '../../../gateway/runner-protocol/masker.js'
import { jobOf, ranTask } from '../../helpers/ran-task.js'
import { STUB_CREDENTIALS, stubRunnerServer } from '../../helpers/stub-runner-server.js'

/** Returns the rows of a log for lines of a program. */
async function rowsFor(t: Test, ...lines: readonly string[]): Promise<readonly string[]> {
  const stub = await stubRunnerServer(t)
  const sender = new LogSender(createServerClient(stub.address, STUB_CREDENTIALS), 7n)
  const reader = new CommandReader(new TaskLog(sender, new Masker([])))
  for (const line of lines) reader.add(line)
  await sender.close()
  return stub.rows
}

t.test('add-mask hides a text in later lines, and itself', async (t) => {
  const rows = await rowsFor(
    t,
    '100%y before',
    '::add-mask::100%25y',
    ' ::Add-Mask a=b::two%0Alines',
    '100%y, 100%25y, two and lines',
    'no ::add-mask::command',
  )
  t.strictSame(rows, [
    '100%y before',
    '::add-mask::***',
    '::add-mask::***',
    '***, 100%25y, *** and ***',
    'no ::add-mask::command',
  ])
})

t.test('old commands that set values are ignored with a warning', async (t) => {
  const rows = await rowsFor(
    t,
    '::set-output name=a::1',
    '::save-state name=a::1',
    '::set-env name=a::1',
    '::add-path::/bin',
  )
  t.strictSame(rows, [
    '::set-output name=a::1',
    "Warning: the command 'set-output' is ignored; write NAME=VALUE to the file $GITHUB_OUTPUT.",
    '::save-state name=a::1',
    "Warning: the command 'save-state' is ignored; write NAME=VALUE to the file $GITHUB_STATE.",
    '::set-env name=a::1',
    "Warning: the command 'set-env' is ignored; write NAME=VALUE to the file $GITHUB_ENV.",
    '::add-path::/bin',
    "Warning: the command 'add-path' is ignored; write the folder to the file $GITHUB_PATH.",
  ])
})

t.test('other commands and lines remain as they are', async (t) => {
  const lines = [
    '::error file=a.js,line=1::Wrong: a::b',
    '::group::Title',
    '::endgroup::',
    '::constructor::x',
    '::stop-commands::',
    '::',
    'a::b::c',
  ]
  t.strictSame(await rowsFor(t, ...lines), lines)
})

t.test('stop-commands makes commands plain lines until its token', async (t) => {
  const stop = '::stop-commands::T0ken'
  const lines = [stop, '::add-mask::shown', '::set-env::', '::t0ken::', '::T0ken::']
  t.strictSame(await rowsFor(t, ...lines, '::add-mask::hidden', 'shown and hidden'), [
    ...lines,
    '::add-mask::***',
    'shown and ***',
  ])
})

t.test('stop-commands of a step does not affect the next step', async (t) => {
  const { stub } = await ranTask(
    t,
    jobOf('run: echo ::stop-commands::T', 'run: |\n  echo ::add-mask::later\n  echo later'),
  )
  t.equal(stub.rows.at(-1), '***')
})
