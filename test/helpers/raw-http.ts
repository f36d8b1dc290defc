/** Bytes to a port and what comes back: for requests that no HTTP client would send. */

import { createConnection, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

export interface Exchange {
  /** Everything that was received, one character a byte. */
  readonly text: string
  /** The status of each reply in it. */
  readonly statuses: readonly number[]
  /** Whether the server ended the connection within the time given. */
  readonly isClosed: boolean
}

export interface ConverseOptions {
  /** Between one write and the next. */
  readonly pauseMs?: number
  /** How long the server gets to close the connection after the last write. */
  readonly waitMs?: number
}

/** Writes each part and reads until the server closes. */
export async function converse(
  port: number,
  parts: readonly (string | Uint8Array)[],
  { pauseMs = 100, waitMs = 3_000 }: ConverseOptions = {},
): Promise<Exchange> {
  const socket = createConnection({ port, host: '127.0.0.1', noDelay: true })
  const chunks: Buffer[] = []
  socket.on('data', (chunk) => chunks.push(chunk))
  // A reset is one way to close.
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

/** A connection that the caller reads from and writes to at its own pace. */
export async function connectTo(port: number): Promise<Socket> {
  const socket = createConnection({ port, host: '127.0.0.1' })
  socket.on('error', () => {})
  await new Promise((resolve) => socket.once('connect', resolve))
  return socket
}

function statusesOf(text: string): readonly number[] {
  return [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map((match) => Number(match[1]))
}
