/** Folder of a task, and its removal by a user without privileges. */

import { chmod, chown, mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { createTaskFolder, removeTaskFolder } from '../../../gateway/own-runner/task-folder.js'
import { temporaryFolder } from '../../helpers/temporary.js'

/** User without privileges; root could remove everything. */
const USER_ID = 65_534

t.test('a folder has the event, and other users cannot read it', async (t) => {
  const folder = await createTaskFolder(await temporaryFolder(t), { after: 'x' })
  t.equal(await readFile(folder.eventFile, 'utf8'), '{"after":"x"}')
  t.equal((await stat(folder.path)).mode & 0o777, 0o700)
  for (const path of [folder.workspace, folder.home, folder.temp, folder.privateTemp]) {
    t.ok((await stat(path)).isDirectory())
  }
})

t.test('parts that a step has made read-only are removed', async (t) => {
  const parent = await temporaryFolder(t)
  const isRoot = process.getuid?.() === 0
  if (isRoot) {
    await chown(parent, USER_ID, USER_ID)
    process.seteuid?.(USER_ID)
    t.teardown(() => process.seteuid?.(0))
  }
  const folder = await createTaskFolder(parent, {})
  const cache = join(folder.home, 'cache')
  await mkdir(cache)
  await writeFile(join(cache, 'file'), '')
  await chmod(cache, 0o500)
  await removeTaskFolder(folder)
  await t.rejects(stat(folder.path), { code: 'ENOENT' })
})
