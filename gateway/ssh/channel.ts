/** Connection to one SSH helper, for messages in both directions and for the client's bytes. */

import type { Socket } from 'node:net'
import { fieldsOf, formatMessage, messageHead, takeMessage } from './message.js'

export interface Channel {
  /** Returns the next message; undefined after the time, or if the helper has disconnected. */
  next(withinMs: number): Promise<readonly string[] | undefined>
  send(...fields: readonly string[]): void
  /** Prepares for the client's bytes, which arrive with backpressure. Must be called once. */
  listen(): void
  /** Returns the client's next bytes; undefined at their end, or if the helper has disconnected. */
  read(): Promise<Buffer | undefined>
  /** Sends bytes to the client. Settles when they are written; throws if the helper disconnects. */
  write(bytes: Uint8Array): Promise<void>
  /** Ends the bytes for the client; messages may follow. */
  finish(): void
  /** Closes the connection immediately. */
  destroy(): void
  /** Aborts when the helper disconnects. */
  readonly signal: AbortSignal
}

/** Creates the channel of a socket. Malformed and premature messages end the connection. */
export function openChannel(socket: Socket): Channel {
  const inbox = openInbox(socket)
  // Created on first use, because most requests do not need it.
  let disconnected: AbortController | undefined
  const leave = () => {
    inbox.close()
    disconnected?.abort()
  }
  // A killed helper resets the connection; the event `close` handles that.
  socket.on('error', () => {})
  socket.on('close', leave)

  return {
    get signal() {
      disconnected ??= new AbortController()
      if (inbox.isClosed) disconnected.abort()
      return disconnected.signal
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
          // Node reports no error for a write that the end of its socket has interrupted.
          if (!socket.destroyed) return resolve()
          leave()
          reject(new Error('the SSH helper has disconnected'))
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

/** Creates the queue of received messages. Only after `listen` may several arrive at a time. */
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
    /** Waits for a message, the end of the connection, or the time. */
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
