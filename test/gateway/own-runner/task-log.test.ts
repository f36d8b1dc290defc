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

t.test('a step masks texts of later rows', async (t) => {
  const rows = await rowsOf(t, (log) => {
    log.add('masked-1 before')
    log.addMask('masked-1')
    log.add('masked-1 after')
    t.ok(log.hasSecret('is secret-1'))
    t.notOk(log.hasSecret('is none'))
  })
  t.strictSame(rows, ['masked-1 before', '*** after'])
})

t.test('rows are hidden if the masked texts of a step are too long', async (t) => {
  const reason = /^Error: steps mask a text of more than 65536 bytes, or texts of more than 4194304/
  const long = await rowsOf(t, (log) => {
    log.addMask('x'.repeat(65_536))
    log.add('shown')
    log.addMask('y'.repeat(65_537))
    log.add('hidden')
    log.addMask('y'.repeat(65_537))
    t.ok(log.hasSecret('hidden'))
  })
  t.match(long, ['shown', reason, '***'])
  t.equal(long.length, 3)
  const many = await rowsOf(t, (log) => {
    // Each text is masked in four forms of 320 KiB together.
    for (let count = 10; count < 23; count += 1) log.addMask(`${count}${'x'.repeat(65_000)}`)
    log.add('shown')
    for (let count = 23; count < 25; count += 1) log.addMask(`${count}${'x'.repeat(65_000)}`)
    log.add('hidden')
  })
  t.match(many, ['shown', reason, '***'])
  t.equal(many.length, 3)
})

t.test('a row has one line of at most 64 KiB, and no part of a secret at its end', async (t) => {
  const rows = await rowsOf(t, (log) => {
    log.add('one\ntwo\r\nthree')
    log.add(`${'€'.repeat(21_844)}secret-1`)
    log.add(`${'x'.repeat(65_531)}secret-1`)
  })
  t.strictSame(rows.slice(0, 3), ['one', 'two', 'three'])
  t.equal(rows[3], `${'€'.repeat(21_844)}***`)
  t.equal(rows[4], `${'x'.repeat(65_531)}***`)
  t.equal(rows.length, 5)
})
