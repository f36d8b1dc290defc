/** The part of the gateway that serves sshd: when it is open, and when it cannot be opened. */

import { join } from 'node:path'
import t from 'tap'
import { isAnswered, sshSocketOf } from '../../../gateway/ssh/socket-file.js'
import { openSshSurface } from '../../../gateway/ssh/surface.js'
import { openContext } from '../../helpers/gateway.js'
import { temporaryFolder } from '../../helpers/temporary.js'

const { context } = await openContext(t)

t.test('an open surface has the common path', async (t) => {
  const socket = sshSocketOf(join(await temporaryFolder(t), 'ssh.sock'), process.pid)
  const surface = await openSshSurface(context, socket)
  t.equal(await isAnswered(socket.path), true)
  await surface.drain(0)
  t.equal(await isAnswered(socket.path), false)
})

t.test('a surface whose socket cannot be opened accepts nothing and can be drained', async (t) => {
  const socket = sshSocketOf(join(await temporaryFolder(t), 'missing', 'ssh.sock'), process.pid)
  const surface = await openSshSurface(context, socket)
  t.equal(await isAnswered(socket.path), false)
  await surface.drain(0)
})
