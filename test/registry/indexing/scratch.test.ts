/** A scratch file returns its contents and has no name. */

import { readdirSync } from 'node:fs'
import t from 'tap'
import { openScratch } from '../../../registry/indexing/scratch.js'
import { collect } from '../../helpers/byte-chunks.js'

t.test('parts are at their returned positions', async (t) => {
  const folder = t.testdir()
  const scratch = await openScratch(folder)
  t.teardown(() => scratch.close())
  t.strictSame(readdirSync(folder), [], 'a killed process leaves no file')
  const starts: number[] = []
  for (const text of ['one', '', 'three']) starts.push(await scratch.append(Buffer.from(text)))
  t.strictSame(starts, [0, 3, 3])
  t.equal((await collect(scratch.read(1, 4))).toString(), 'neth')
  t.equal((await collect(scratch.read(3, 0))).length, 0)
  await t.rejects(collect(scratch.read(6, 3)), { message: /shorter/ })
})
