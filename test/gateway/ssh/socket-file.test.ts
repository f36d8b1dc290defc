/** Sockets for SSH: their folder is private, and one gateway that answers has the common path. */

import { once } from 'node:events'
import { chmod, link, readdir, stat, utimes } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import {
  claimSocket,
  handOverSocket,
  isAnswered,
  prepareSocketFolder,
  removeStaleSocket,
  sshSocketOf,
  untilAccepted,
} from '../../../gateway/ssh/socket-file.js'
import { temporaryFolder } from '../../helpers/temporary.js'

async function commonPath(t: Test): Promise<string> {
  const path = join(await temporaryFolder(t), 'run', 'ssh.sock')
  await prepareSocketFolder({ path })
  return path
}

/** Listens as a gateway does. */
async function listenAt(t: Test, own: string) {
  const server = createServer().listen(own)
  await once(server, 'listening')
  const stop = async () => {
    server.close()
    await once(server, 'close')
  }
  t.teardown(() => server.close())
  return { stop }
}

t.test('the folder is created, for its owner only', async (t) => {
  const path = join(await temporaryFolder(t), 'data', 'run', 'ssh.sock')
  await prepareSocketFolder({ path })
  t.equal((await stat(join(path, '..'))).mode & 0o777, 0o700)
  t.equal(await isAnswered(path), false)
})

t.test('a folder that others may open is refused and left unchanged', async (t) => {
  const folder = await temporaryFolder(t)
  await chmod(folder, 0o755)
  const prepared = prepareSocketFolder({ path: join(folder, 'ssh.sock') })
  await t.rejects(prepared, /must be private: run chmod 0700/)
  t.equal((await stat(folder)).mode & 0o777, 0o755)
})

t.test('the common path goes to the next gateway when its gateway has ended', async (t) => {
  const path = await commonPath(t)
  const [one, two] = [process.pid, process.ppid].map((pid) => sshSocketOf(path, pid))
  if (one === undefined || two === undefined) throw new Error('no sockets')
  t.not(one.own, two.own)
  t.equal(await claimSocket(one), 'other', 'a gateway that does not listen claims nothing')
  const first = await listenAt(t, one.own)
  t.equal(await claimSocket(one), 'claimed')
  t.equal(await claimSocket(one), 'own')
  const second = await listenAt(t, two.own)
  t.equal(await claimSocket(two), 'other')
  await removeStaleSocket(two)
  t.equal(await isAnswered(path), true)
  await first.stop()
  t.equal(await isAnswered(path), false)
  // Several workers and the supervisor of a gateway may claim the path at the same time.
  await Promise.all(Array.from({ length: 5 }, () => claimSocket(two)))
  t.equal(await isAnswered(path), true)
  t.strictSame(new Set(await readdir(join(path, '..'))), new Set(['ssh.sock', two.own.slice(-8)]))
  await second.stop()
  await removeStaleSocket(two)
  t.strictSame(await readdir(join(path, '..')), [])
})

t.test('a gateway that ends gives the common path to one that accepts connections', async (t) => {
  const path = await commonPath(t)
  const folder = join(path, '..')
  const [one, other] = [
    { path, own: join(folder, '0000000a') },
    { path, own: join(folder, '0000000b') },
  ]
  const first = await listenAt(t, one.own)
  await claimSocket(one)
  t.equal(await handOverSocket(one), false, 'there is no other gateway')
  const ended = await listenAt(t, other.own)
  await link(other.own, join(folder, '0000000c'))
  await ended.stop()
  t.equal(await handOverSocket(one), false, 'the other one has ended')
  t.equal(await isAnswered(path), true)
  await listenAt(t, other.own)
  t.equal(await handOverSocket(other), false, 'it does not have the path')
  t.equal(await handOverSocket(one), true)
  await first.stop()
  t.equal(await isAnswered(path), true)
  t.equal(await claimSocket(other), 'own')
})

t.test('the wait for waiting connections ends with the listener or after the time', async (t) => {
  const socket = sshSocketOf(await commonPath(t), process.pid)
  t.equal(await untilAccepted(socket, 60_000), true, 'no listener')
  await listenAt(t, socket.own)
  t.equal(await untilAccepted(socket, 100), false, 'a listener that does not reply')
})

t.test('a gateway whose listener was replaced has the common path again', async (t) => {
  const socket = sshSocketOf(await commonPath(t), process.pid)
  const before = await listenAt(t, socket.own)
  await claimSocket(socket)
  await before.stop()
  await listenAt(t, socket.own)
  t.equal(await claimSocket(socket), 'claimed')
  t.equal(await isAnswered(socket.path), true)
})

t.test('sockets that killed gateways have left are removed after a minute', async (t) => {
  const path = await commonPath(t)
  const folder = join(path, '..')
  const own = (name: string) => join(folder, name)
  // A hard link to the socket of a server that has ended, as a killed process leaves it.
  await listenAt(t, own('0000000a'))
  for (const name of ['0000000b', '0000000c']) {
    const killed = sshSocketOf(own(name), process.pid)
    const server = await listenAt(t, killed.own)
    await claimSocket(killed)
    await server.stop()
  }
  for (const name of ['0000000a', '0000000b']) await utimes(own(name), 1, 1)
  await prepareSocketFolder({ path })
  t.strictSame((await readdir(folder)).sort(), ['0000000a', '0000000c'])
})
