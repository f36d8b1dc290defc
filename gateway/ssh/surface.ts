/** Unix socket of SSH, to which sshd's helpers connect; each connection has one request. */

import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import { Failure } from '../../conf/failures.js'
import { authenticateKey } from '../auth/authenticate-key.js'
import type { Context } from '../request/context.js'
import { type Channel, openChannel } from './channel.js'
import { HELPER_VERSION } from './message.js'
import { runSession } from './session.js'
import { claimSocket, type SshSocket } from './socket-file.js'

export interface SshSurface {
  /** Accepts no more requests, and waits at most `graceMs` for running sessions. */
  drain(graceMs: number): Promise<void>
}

const REQUEST_MS = 10_000

/**
 * Opens the gateway's own socket, on which all workers accept connections, and claims the common
 * path. Resolves when connections are accepted, so that another gateway that ends can pass on the
 * path. If the socket cannot be opened, logs the reason, and the server runs without SSH. While
 * another gateway has the common path, the supervisor watches it.
 */
export async function openSshSurface(context: Context, socket: SshSocket): Promise<SshSurface> {
  const { log } = context
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    const channel = openChannel(socket)
    answer(context, channel)
      .catch((error: unknown) => log.error({ error }, 'a request of sshd failed'))
      .finally(() => socket.end())
  })
  const fail = (error: unknown) => {
    log.error({ error, path: socket.path }, 'SSH is unavailable: its socket was not opened')
  }
  const claim = async () => {
    if ((await claimSocket(socket)) !== 'other') return
    log.warn({ path: socket.path }, 'another gateway has the socket for SSH')
  }
  server.on('error', fail)
  server.listen(socket.own)
  const isListening = await once(server, 'listening').then(Boolean, () => false)
  if (isListening) await claim().catch(fail)
  return { drain: (graceMs) => drain(server, sockets, graceMs) }
}

async function answer(context: Context, channel: Channel): Promise<void> {
  const [version, verb, ...words] = (await channel.next(REQUEST_MS)) ?? []
  if (version === undefined) return
  if (version !== HELPER_VERSION) {
    context.log.error(
      { version },
      "the SSH helper has another version: run 'gatehouse ssh install'",
    )
    return channel.send('say', '1', OTHER_VERSION)
  }
  if (verb === 'keys') return answerKey(context, channel, words[1] ?? '')
  if (verb !== 'serve') return
  const [key = '', command = '', gitProtocol = '', address = ''] = words
  await runSession(context, channel, { key, command, gitProtocol, address })
}

const OTHER_VERSION =
  'The SSH helper of Gatehouse has another version. Ask the administrator to install it again.'

/**
 * Answers a query for a key. Its use is not recorded, because sshd queries (twice) before it has
 * verified that the client has the private key.
 */
async function answerKey({ db }: Context, channel: Channel, base64: string): Promise<void> {
  const digest = createHash('sha256').update(Buffer.from(base64, 'base64')).digest('base64')
  const fingerprint = `SHA256:${digest.replace(/=+$/, '')}`
  try {
    const holder = await authenticateKey(db, fingerprint)
    if (holder === undefined) channel.send('unknown')
    else channel.send('known', fingerprint)
  } catch (error) {
    channel.send('away')
    if (!(error instanceof Failure)) throw error
  }
}

async function drain(server: Server, sockets: Set<Socket>, graceMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  const timer = setTimeout(() => {
    for (const socket of sockets) socket.destroy()
  }, graceMs)
  await closed
  clearTimeout(timer)
}
