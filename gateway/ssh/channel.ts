/** One helper's connection: messages come and go, or a client's bytes; its end is seen at once. */

import type { Socket } from 'node:net'
import { fieldsOf, formatMessage, messageHead, takeMessage } from './message.js'

export interface Channel {
  /** The next message; undefined when none came in time, or when the helper has gone. */
  next(withinMs: number): Promise<readonly string[] | undefined>
  send(...fields: readonly string[]): void
  /** To be called once: from now on the helper passes on what the client says. */
  listen(): void
  /** What the client says next; undefined when it has ended, or the helper has gone. */
  read(): Promise<Buffer | undefined>
  /** Bytes for the client. Settles when they are on their way; throws when the helper has gone. */
  write(bytes: Uint8Array): Promise<void>
  /** Ends what the client hears; messages may follow. */
  finish(): void
  /** Breaks the connection off. */
  destroy(): void
  /** Aborts when the helper has gone. */
  readonly signal: AbortSignal
}

/** The channel of a socket. What is no message, or comes before its turn, ends the connection. */
export function openChannel(socket: Socket): Channel {
  const inbox = openInbox(socket)
  // Made for those who ask: two of three questions are over at once.
  let gone: AbortController | undefined
  const leave = () => {
    inbox.close()
    gone?.abort()
  }
  // A helper that was killed resets the connection: its end is all there is to know.
  socket.on('error', () => {})
  socket.on('close', leave)

  return {
    get signal() {
      gone ??= new AbortController()
      if (inbox.isClosed) gone.abort()
      return gone.signal
    },
    send(...fields) {
      if (socket.writable) socket.write(formatMessage(fields))
    },
    async next(withinMs) {
      const message = await inbox.take(withinMs)
      return message && fieldsOf(message)
    },
    listen: inbox.listen,
    async read() {
      const message = await inbox.take()
      return message?.length === 0 ? undefined : message
    },
    write(chunk) {
      return new Promise((resolve, reject) => {
        socket.cork()
        socket.write(messageHead(chunk.byteLength))
        socket.write(chunk, () => {
          // A write that the end of its socket has cut short is told as one that went well.
          if (!socket.destroyed) return resolve()
          leave()
          reject(new Error('the helper has gone'))
        })
        socket.uncork()
      })
    },
    finish() {
      if (socket.writable) socket.write(messageHead(0))
    },
    destroy() {
      socket.destroy()
    },
  }
}

/** The messages that have come: one at a time, or as fast as they are taken by who listens. */
function openInbox(socket: Socket) {
  let bytes: Buffer = Buffer.alloc(0)
  let isListening = false
  let isClosed = false
  const arrived: Buffer[] = []
  let deliver = () => {}

  socket.on('data', (chunk: Buffer) => {
    try {
      bytes = bytes.length === 0 ? chunk : Buffer.concat([bytes, chunk])
      for (let taken = takeMessage(bytes); taken !== undefined; taken = takeMessage(bytes)) {
        arrived.push(taken.message)
        bytes = taken.rest
      }
    } catch {
      socket.destroy()
    }
    if (arrived.length === 0) return
    if (isListening) socket.pause()
    else if (arrived.length > 1 || bytes.length > 0) socket.destroy()
    deliver()
  })

  return {
    get isClosed() {
      return isClosed
    },
    listen() {
      isListening = true
    },
    close() {
      isClosed = true
      deliver()
    },
    /** Waits for a message, the end, or the time. */
    take(withinMs?: number): Promise<Buffer | undefined> {
      return new Promise((resolve) => {
        const settle = () => {
          clearTimeout(timer)
          deliver = () => {}
          const message = arrived.shift()
          if (isListening && arrived.length === 0) socket.resume()
          resolve(message)
        }
        const timer = withinMs === undefined ? undefined : setTimeout(settle, withinMs)
        deliver = settle
        if (arrived.length > 0 || isClosed) settle()
      })
    },
  }
}
