/** Files and folders are flushed, and what is gone is no error. */

import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { syncPath, unlessMissing } from '../../conf/disk.js'

t.test('a file and a folder can be flushed, what is not there cannot', async (t) => {
  const folder = t.testdir({ file: 'text' })
  await syncPath(folder)
  await syncPath(join(folder, 'file'))
  await t.rejects(syncPath(join(folder, 'none')), { code: 'ENOENT' })
})

t.test('what is gone is undefined, any other error stays', async (t) => {
  const folder = t.testdir({ file: 'text' })
  t.equal(await unlessMissing(readFile(join(folder, 'file'), 'utf8')), 'text')
  t.equal(await unlessMissing(readFile(join(folder, 'none'))), undefined)
  t.equal(await unlessMissing(readFile(join(folder, 'file', 'below'))), undefined)
  await t.rejects(unlessMissing(writeFile(folder, 'text')), { code: 'EISDIR' })
})
