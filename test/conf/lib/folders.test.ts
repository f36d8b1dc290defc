/** Folders of settings are created with their parents, or refused with the name of the setting. */

import { stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { createFolder } from '../../../conf/lib/folders.js'
import { temporaryFolder } from '../../helpers/temporary.js'

const OPTIONS = { mode: 0o700, setting: 'data.dir' }

t.test('missing parents are created, and returned outermost first', async (t) => {
  const outer = join(await temporaryFolder(t), 'outer')
  const inner = join(outer, 'inner')
  t.strictSame(await createFolder(inner, OPTIONS), [outer, inner])
  t.equal((await stat(outer)).mode & 0o777, 0o700)
  t.strictSame(await createFolder(inner, OPTIONS), [])
})

t.test('concurrent calls for one folder all succeed', async (t) => {
  const folder = join(await temporaryFolder(t), 'a', 'b', 'c')
  await Promise.all(Array.from({ length: 8 }, () => createFolder(folder, OPTIONS)))
  t.ok((await stat(folder)).isDirectory())
})

t.test('a file, a parent that is a file, and a folder of /proc are refused', async (t) => {
  const file = join(await temporaryFolder(t), 'file')
  await writeFile(file, '')
  const advice = 'set data.dir to a folder that this user may write'
  const refusals = [
    [file, 'it is a file'],
    [join(file, 'below'), `ENOTDIR: not a directory, mkdir '${join(file, 'below')}'`],
    ['/proc/gatehouse/data', "ENOENT: no such file or directory, mkdir '/proc/gatehouse'"],
  ] as const
  for (const [folder, reason] of refusals) {
    await t.rejects(createFolder(folder, OPTIONS), {
      message: `the folder ${folder} cannot be created (${reason}): ${advice}`,
    })
  }
})
