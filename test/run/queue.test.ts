/** The processes of a run take each test file once. */

import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { temporaryFolder } from '../helpers/temporary.js'
import { hasFiles, lastFileOf, type QueueEnd, takeFiles, writeQueue } from './queue.js'

t.test('each file is taken once, from both ends of the list', async (t) => {
  const queue = join(await temporaryFolder(t), 'queue')
  const files = Array.from({ length: 20 }, (_, at) => `file-${at}`)
  await writeQueue(queue, files)
  t.equal(await lastFileOf(queue, process.pid), undefined)
  const taken: string[] = []
  const take = async (end: QueueEnd) => {
    for await (const file of takeFiles(queue, end)) taken.push(file)
  }
  t.match(await takeFiles(queue, 'last').next(), { value: 'file-19' })
  t.equal(await lastFileOf(queue, process.pid), 'file-19')
  await sleep(20)
  t.match(await takeFiles(queue, 'first').next(), { value: 'file-0' })
  t.equal(await lastFileOf(queue, process.pid), 'file-0')
  await sleep(20)
  t.ok(await hasFiles(queue))
  await Promise.all([take('first'), take('last'), take('first')])
  t.strictSame(taken.toSorted(), files.slice(1, -1).toSorted())
  t.notOk(await hasFiles(queue))
  t.not(await lastFileOf(queue, process.pid), 'file-0')
})
