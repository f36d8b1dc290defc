/** Raw bytes over TCP, for requests that no HTTP client would send. */

import { createConnection, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

export interface Exchange {
  /** Received bytes, one character per byte. */
  readonly text: string
  /** Status of each received reply. */
  readonly statuses: readonly number[]
  /** True if the server closed the connection within `waitMs`. */
  readonly isClosed: boolean
}

export interface ConverseOptions {
  /** Pause between two writes. */
  readonly pauseMs?: number
  /** Time for the server to close the connection after the last write. */
  readonly waitMs?: number
}

/** Writes the parts; reads until the server closes the connection or `waitMs` has passed. */
export async function converse(
  port: number,
  parts: readonly (string | Uint8Array)[],
  { pauseMs = 100, waitMs = 3_000 }: ConverseOptions = {},
): Promise<Exchange> {
  const socket = createConnection({ port, host: '127.0.0.1', noDelay: true })
  const chunks: Buffer[] = []
  socket.on('data', (chunk) => chunks.push(chunk))
  // A reset counts as closed.
  socket.on('error', () => {})
  const closed = new Promise<boolean>((resolve) => socket.once('close', () => resolve(true)))
  for (const [index, part] of parts.entries()) {
    if (index > 0) await sleep(pauseMs)
    if (!socket.destroyed)
      socket.write(typeof part === 'string' ? Buffer.from(part, 'latin1') : part)
  }
  const isClosed = await Promise.race([closed, sleep(waitMs, false)])
  socket.destroy()
  const text = Buffer.concat(chunks).toString('latin1')
  return { text, statuses: statusesOf(text), isClosed }
}

/** Opens a connection to a port of 127.0.0.1; errors of the socket are ignored. */
export async function connectTo(port: number): Promise<Socket> {
  const socket = createConnection({ port, host: '127.0.0.1' })
  socket.on('error', () => {})
  await new Promise((resolve) => socket.once('connect', resolve))
  return socket
}

function statusesOf(text: string): readonly number[] {
  return [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map((match) => Number(match[1]))
}
