/** Folders of steps that a process of the job replaces while the runner uses them. */

import { lstat, mkdir, readdir, readFile, rename, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { inStepFolder, writeNewFile } from '../../../gateway/own-runner/step-folder.js'
import { temporaryFolder } from '../../helpers/temporary.js'

t.test('a link in place of the folder or the file is not followed', async (t) => {
  const folder = await temporaryFolder(t)
  const [outside, step] = [join(folder, 'outside'), join(folder, 'step-1')]
  await mkdir(outside)
  await symlink(outside, step)
  await t.rejects(writeNewFile(step, 'script', 'x'), { message: /folder of the step was removed/ })
  const own = join(folder, 'step-2')
  await mkdir(own)
  await symlink(join(outside, 'script'), join(own, 'script'))
  await t.rejects(writeNewFile(own, 'script', 'x'), { code: 'EEXIST' })
  t.strictSame(await readdir(outside), [])
  await writeNewFile(own, 'env', 'A=b')
  t.equal(await readFile(join(own, 'env'), 'utf8'), 'A=b')
})

t.test('a folder that is replaced while it is used stays the same', async (t) => {
  const folder = await temporaryFolder(t)
  const [outside, step] = [join(folder, 'outside'), join(folder, 'step-1')]
  for (const path of [outside, step]) await mkdir(path)
  await inStepFolder(step, async (path) => {
    await rename(step, join(folder, 'moved'))
    await symlink(outside, step)
    await mkdir(join(path, 'made'))
  })
  t.ok((await lstat(join(folder, 'moved', 'made'))).isDirectory())
  t.strictSame(await readdir(outside), [])
})
