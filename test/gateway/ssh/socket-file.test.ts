/** The SSH socket: its folder is private, and only a dead socket is replaced. */

import { once } from 'node:events'
import { chmod, readdir, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { isAnswered, prepareSocket, removeStaleSocket } from '../../../gateway/ssh/socket-file.js'
import { temporaryFolder } from '../../helpers/temporary.js'

t.test('the folder is created, for its owner only', async (t) => {
  const path = join(await temporaryFolder(t), 'data', 'run', 'ssh.sock')
  await prepareSocket(path)
  t.equal((await stat(join(path, '..'))).mode & 0o777, 0o700)
  t.equal(await isAnswered(path), false)
})

t.test('a folder that others may open is refused and left unchanged', async (t) => {
  const folder = await temporaryFolder(t)
  await chmod(folder, 0o755)
  await t.rejects(prepareSocket(join(folder, 'ssh.sock')), /must be private: run chmod 0700/)
  t.equal((await stat(folder)).mode & 0o777, 0o755)
})

t.test('a socket with a listener is kept and a dead one is deleted', async (t) => {
  const path = join(await temporaryFolder(t), 'run', 'ssh.sock')
  await prepareSocket(path)
  const server = createServer().listen(path)
  await once(server, 'listening')
  await prepareSocket(path)
  await removeStaleSocket(path)
  t.equal(await isAnswered(path), true)
  server.close()
  await once(server, 'close')
  // A file without a listener, as a killed process leaves it.
  await writeFile(path, '')
  await prepareSocket(path)
  await t.rejects(stat(path), { code: 'ENOENT' })
  await writeFile(path, '')
  await Promise.all([removeStaleSocket(path), removeStaleSocket(path)])
  t.strictSame(await readdir(join(path, '..')), [])
})
