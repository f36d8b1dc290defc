/** Rows of a task's log: masks that a step adds, and the length of lines. */

import t, { type Test } from 'tap'
import { LogSender } from '../../../gateway/own-runner/log-sender.js'
import { createServerClient } from '../../../gateway/own-runner/server-client.js'
import { TaskLog } from '../../../gateway/own-runner/task-log.js'
import { Masker } from '../../../gateway/runner-protocol/masker.js'
import { STUB_CREDENTIALS, stubRunnerServer } from '../../helpers/stub-runner-server.js'

/** Returns the rows of a log, to which the function writes. */
async function rowsOf(t: Test, write: (log: TaskLog) => void): Promise<readonly string[]> {
  const stub = await stubRunnerServer(t)
  const sender = new LogSender(createServerClient(stub.address, STUB_CREDENTIALS), 7n)
  write(new TaskLog(sender, new Masker(['secret-1'])))
  await sender.close()
  return stub.rows
}

t.test('a step masks texts of later rows, also those with escapes', async (t) => {
  const rows = await rowsOf(t, (log) => {
    log.addOutput('100%y before')
    log.addOutput('::add-mask::100%25y')
    log.addOutput('100%y and 100%25y after')
    t.ok(log.hasSecret('is secret-1'))
    t.notOk(log.hasSecret('is none'))
  })
  t.strictSame(rows, ['100%y before', '::add-mask::***', '*** and 100%25y after'])
})

t.test('a row has one line of at most 64 KiB, and no part of a secret at its end', async (t) => {
  const rows = await rowsOf(t, (log) => {
    log.add('one\ntwo\r\nthree')
    log.addOutput(`${'€'.repeat(21_844)}secret-1`)
    log.addOutput(`${'x'.repeat(65_531)}secret-1`)
  })
  t.strictSame(rows.slice(0, 3), ['one', 'two', 'three'])
  t.equal(rows[3], `${'€'.repeat(21_844)}***`)
  t.equal(rows[4], `${'x'.repeat(65_531)}***`)
  t.equal(rows.length, 5)
})
