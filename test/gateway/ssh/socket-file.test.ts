/** The socket for SSH: its folder is its owner's alone, and only a dead one is replaced. */

import { once } from 'node:events'
import { chmod, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { isAnswered, prepareSocket } from '../../../gateway/ssh/socket-file.js'
import { temporaryFolder } from '../../helpers/temporary.js'

t.test('the folder is made, for its owner alone', async (t) => {
  const path = join(await temporaryFolder(t), 'data', 'run', 'ssh.sock')
  await prepareSocket(path)
  t.equal((await stat(join(path, '..'))).mode & 0o777, 0o700)
  t.equal(await isAnswered(path), false)
})

t.test('a folder that others may open is refused, and left as it is', async (t) => {
  const folder = await temporaryFolder(t)
  await chmod(folder, 0o755)
  await t.rejects(prepareSocket(join(folder, 'ssh.sock')), /owner's alone: chmod 0700/)
  t.equal((await stat(folder)).mode & 0o777, 0o755)
})

t.test('a socket at which somebody answers stays, a dead one goes', async (t) => {
  const path = join(await temporaryFolder(t), 'run', 'ssh.sock')
  await prepareSocket(path)
  const server = createServer().listen(path)
  await once(server, 'listening')
  await prepareSocket(path)
  t.equal(await isAnswered(path), true)
  server.close()
  await once(server, 'close')
  // What a killed process leaves: a file at which nobody answers.
  await writeFile(path, '')
  await prepareSocket(path)
  await t.rejects(stat(path), { code: 'ENOENT' })
})
