/** The listener on a real socket, and raw client connections. */

import { once } from 'node:events'
import { createConnection, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Test } from 'tap'
import { parseAddressSet } from '../../conf/addresses.js'
import type { Reply, Request } from '../../conf/http.js'
import type { Awaitable } from '../../conf/lib/awaitable.js'
import { type Listener, listen } from '../../gateway/http/listen.js'

export interface Listening {
  readonly listener: Listener
  readonly broken: unknown[]
  /** Opens a connection that collects the received bytes. */
  connect(): Promise<Wire>
}

export interface Wire {
  readonly socket: Socket
  text(): string
  bytes(): number
  /** Resolves when `count` replies have arrived, of the last one at least the complete head. */
  answers(count: number): Promise<readonly string[]>
  /** Resolves when the received text matches. Throws after a minute. */
  until(pattern: RegExp): Promise<string>
  ended(): Promise<string>
}

/** Options of `drain` without delays, which wait only for running requests. */
export const WITHOUT_DELAY = { acceptMs: 0, lingerMs: 0, hasSuccessor: false }

/** Listens on a free port until the test ends. */
export async function startListener(
  t: Test,
  handle: (request: Request) => Awaitable<Reply>,
): Promise<Listening> {
  const broken: unknown[] = []
  const listener = await listen({
    listen: [{ host: '127.0.0.1', port: 0 }],
    trustedProxies: parseAddressSet([]),
    handle,
    onBroken: (_request, error) => broken.push(error),
  })
  t.teardown(() => listener.drain({ ...WITHOUT_DELAY, graceMs: 0 }))
  return { listener, broken, connect: () => connect(t, listener.port) }
}

async function connect(t: Test, port: number): Promise<Wire> {
  const socket = createConnection(port, '127.0.0.1')
  t.teardown(() => socket.destroy())
  await once(socket, 'connect')
  let received = ''
  let bytes = 0
  let isEnded = false
  socket.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    received += chunk.toString('latin1')
    // Only the ends of a long reply are kept, because each chunk searches the text again.
    if (received.length > 10_000) received = received.slice(0, 5_000) + received.slice(-100)
  })
  socket.on('error', () => {})
  socket.on('close', () => {
    isEnded = true
  })
  const wait = async (isDone: () => boolean) => {
    const deadlineMs = Date.now() + 60_000
    while (!isDone()) {
      if (Date.now() > deadlineMs)
        throw new Error(`not received within 60 s: ${received.slice(-500)}`)
      await sleep(5)
    }
    return received
  }
  return {
    socket,
    text: () => received,
    bytes: () => bytes,
    async answers(count) {
      const split = () => received.split(/(?=HTTP\/1\.1 )/)
      await wait(() => split().length === count && split().at(-1)?.includes('\r\n\r\n') === true)
      return split()
    },
    until: (pattern) => wait(() => pattern.test(received)),
    ended: () => wait(() => isEnded),
  }
}

/** Returns the text of a request without a body. */
export const get = (path: string, method = 'GET') => `${method} ${path} HTTP/1.1\r\nHost: x\r\n\r\n`

/** Returns a promise and the function that resolves it. */
export const deferred = () => {
  let resolve = () => {}
  const promise = new Promise<void>((done) => {
    resolve = done
  })
  return { promise, resolve }
}
