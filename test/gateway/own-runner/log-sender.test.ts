/** Sender of log rows: batches, lost answers, refusals, and the limit of memory. */

import t, { type Test } from 'tap'
import { LogSender } from '../../../gateway/own-runner/log-sender.js'
import { createServerClient } from '../../../gateway/own-runner/server-client.js'
import { STUB_CREDENTIALS, stubRunnerServer } from '../../helpers/stub-runner-server.js'

async function senderOf(t: Test) {
  const stub = await stubRunnerServer(t)
  return { stub, sender: new LogSender(createServerClient(stub.address, STUB_CREDENTIALS), 7n) }
}

function rowsTo(count: number): readonly string[] {
  return Array.from({ length: count }, (_, at) => `row ${at}`)
}

t.test('a hundred rows are sent together, before the end of the log', async (t) => {
  const { stub, sender } = await senderOf(t)
  const arrived = new Promise<void>((resolve) => {
    stub.onRows = () => resolve()
  })
  for (const row of rowsTo(100)) sender.add(row)
  await arrived
  t.strictSame(stub.rows, rowsTo(100))
  t.notOk(stub.isLogClosed)
  sender.add('row 100')
  t.equal(sender.rowCount, 101)
  await sender.close()
  t.strictSame(stub.rows, rowsTo(101))
  t.ok(stub.isLogClosed)
  t.strictSame(stub.calls, ['UpdateLog', 'UpdateLog'])
})

t.test('rows are sent again after an error, and those that were not acknowledged', async (t) => {
  const { stub, sender } = await senderOf(t)
  stub.refusals['UpdateLog'] = ['unavailable', 'internal']
  stub.acknowledgedMax = 40
  for (const row of rowsTo(130)) sender.add(row)
  await sender.close()
  t.strictSame(stub.rows, rowsTo(130))
  t.ok(stub.isLogClosed)
})

t.test('a log that the server refuses is given up, and never blocks its writer', async (t) => {
  const { stub, sender } = await senderOf(t)
  stub.refusals['UpdateLog'] = ['permission_denied']
  for (let at = 0; at < 200; at += 1) {
    sender.add('x'.repeat(65_536))
    await sender.hasRoom()
  }
  await t.rejects(sender.close(), { code: 'permission_denied' })
  t.strictSame(stub.rows, [])
})

t.test('a writer waits while more than 4 MiB of rows are in memory', async (t) => {
  const { stub, sender } = await senderOf(t)
  stub.refusals['UpdateLog'] = ['unavailable']
  let added = 0
  let isWaiting = false
  for (; added < 200 && !isWaiting; added += 1) {
    sender.add('x'.repeat(65_536))
    isWaiting = await Promise.race([
      sender.hasRoom().then(() => false),
      new Promise<boolean>((resolve) => setTimeout(resolve, 50, true)),
    ])
  }
  t.ok(added * 65_536 <= 4_194_304 + 2 * 65_536, String(added))
  t.ok(isWaiting)
  await sender.hasRoom()
  await sender.close()
  t.equal(stub.rows.length, added)
})
