/** The processes of a run end with a result, also if they cannot start. */

import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import t from 'tap'
import { temporaryFolder } from '../helpers/temporary.js'
import { startPool } from './pool.js'
import { hasFiles, writeQueue } from './queue.js'

t.test('a process that ends before it takes a file fails, and is not started again', async (t) => {
  const folder = await temporaryFolder(t)
  const queue = join(folder, 'queue')
  await writeQueue(queue, ['a.test.js'])
  const output = new PassThrough()
  const environment = { NODE_OPTIONS: '--import=data:text/javascript,process.exit(3)' }
  const pool = startPool({ jobs: 2, folder, queue, environment, output })
  t.equal(await pool.passed, false)
  t.ok(await hasFiles(queue), 'the file was not taken')
  t.match(String(output.read()), /^not ok - a process without a file ended with 3$/m)
})
