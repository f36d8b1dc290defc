/** Files and folders are synced, and missing files are tolerated. */

import { readFileSync, writeFileSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { syncPath, unlessMissing, unlessMissingSync } from '../../../conf/lib/disk.js'

t.test('an existing file or folder is synced and a missing one is an error', async (t) => {
  const folder = t.testdir({ file: 'text' })
  await syncPath(folder)
  await syncPath(join(folder, 'file'))
  await t.rejects(syncPath(join(folder, 'none')), { code: 'ENOENT' })
})

t.test('a missing file gives undefined and any other error is thrown', async (t) => {
  const folder = t.testdir({ file: 'text' })
  t.equal(await unlessMissing(readFile(join(folder, 'file'), 'utf8')), 'text')
  t.equal(await unlessMissing(readFile(join(folder, 'none'))), undefined)
  t.equal(await unlessMissing(readFile(join(folder, 'file', 'below'))), undefined)
  await t.rejects(unlessMissing(writeFile(folder, 'text')), { code: 'EISDIR' })
  t.equal(
    unlessMissingSync(() => readFileSync(join(folder, 'file'), 'utf8')),
    'text',
  )
  t.equal(
    unlessMissingSync(() => readFileSync(join(folder, 'none'))),
    undefined,
  )
  t.throws(() => unlessMissingSync(() => writeFileSync(folder, 'text')), { code: 'EISDIR' })
})
