/** One helper's connection: messages come and go, and its end is seen at once. */

import type { Socket } from 'node:net'
import { formatMessage, takeMessage } from './message.js'

export interface Channel {
  /** The next message; undefined when none came in time, or when the helper has gone. */
  next(withinMs: number): Promise<readonly string[] | undefined>
  send(...fields: readonly string[]): void
  /** Aborts when the helper has gone. */
  readonly signal: AbortSignal
}

/** The channel of a socket. What is no message, or comes before its turn, ends the connection. */
export function openChannel(socket: Socket): Channel {
  let isGone = false
  // Made for those who ask: two of three questions are over at once.
  let gone: AbortController | undefined
  let bytes: Buffer = Buffer.alloc(0)
  let arrived: readonly string[] | undefined
  let deliver = () => {}

  socket.on('data', (chunk: Buffer) => {
    try {
      bytes = bytes.length === 0 ? chunk : Buffer.concat([bytes, chunk])
      const message = takeMessage(bytes)
      if (message === undefined) return
      if (arrived !== undefined || message.rest.length > 0) socket.destroy()
      else {
        bytes = Buffer.alloc(0)
        arrived = message.fields
        deliver()
      }
    } catch {
      socket.destroy()
    }
  })
  // A helper that was killed resets the connection: its end is all there is to know.
  socket.on('error', () => {})
  socket.on('close', () => {
    isGone = true
    gone?.abort()
    deliver()
  })

  return {
    get signal() {
      gone ??= new AbortController()
      if (isGone) gone.abort()
      return gone.signal
    },
    send(...fields) {
      if (socket.writable) socket.write(formatMessage(fields))
    },
    next(withinMs) {
      return new Promise((resolve) => {
        const settle = () => {
          clearTimeout(timer)
          deliver = () => {}
          const message = arrived
          arrived = undefined
          resolve(message)
        }
        const timer = setTimeout(settle, withinMs)
        deliver = settle
        if (arrived !== undefined || isGone) settle()
      })
    },
  }
}
