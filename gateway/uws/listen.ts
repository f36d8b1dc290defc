/** The listener: sockets become exchanges, and an end lets what runs come to its own. */

import uws, { type HttpResponse, type us_listen_socket } from 'uWebSockets.js'
import type { HostPort } from '../../conf/field.js'
import { statusLine } from '../../conf/http.js'
import { framingFault } from '../framing.js'
import { createDrain, type DrainTimes } from './drain.js'
import { Exchange, type ExchangeOptions, type ExchangeState } from './exchange.js'
import { SentHeaders } from './sent-headers.js'
import { SlowBodies } from './slow-bodies.js'

export interface ListenOptions extends ExchangeOptions {
  readonly listen: HostPort
}

export interface Listener {
  /** The port that was bound; differs from the wanted one when that was 0. */
  readonly port: number
  /** Ends in steps; a later call changes the times. Resolves when all connections are closed. */
  drain(times: DrainTimes): Promise<void>
}

/** Listens; several processes may listen on the same port. Throws when the port cannot be had. */
export async function listen(options: ListenOptions): Promise<Listener> {
  const slowBodies = new SlowBodies()
  const state: ExchangeState = { connections: 0, running: 0, isDraining: false, slowBodies }
  const app = uws.App()
  const countConnection = (change: number) => {
    state.connections += change
  }
  app.filter((_res, change) => countConnection(Number(change)))
  app.any('/*', (res, req) => {
    const headers = new SentHeaders()
    req.forEach((name, value) => {
      headers.add(name, value)
    })
    const fault = framingFault(headers)
    if (fault !== undefined) return refuseFraming(res, fault)
    new Exchange(res, req, headers, options).run(state)
  })
  const { host, port } = options.listen
  const socket = await new Promise<us_listen_socket | false>((resolve) => {
    app.listen(host, port, resolve)
  })
  if (socket === false) throw new Error(`cannot listen on ${host}:${port}: is the port in use?`)
  return {
    port: uws.us_socket_local_port(socket),
    // The library keeps no count: a socket that is closed twice ends the process.
    drain: createDrain(state, {
      closeListener: () => uws.us_listen_socket_close(socket),
      closeConnections: () => app.close(),
    }),
  }
}

/**
 * Answers 400 and closes at once, so that nothing behind the malformed head is read as a request.
 * A graceful end would run a pipelined one first, and a short write would be lost with the close:
 * the padding makes it larger than the buffer that the library keeps writes in (16 KiB).
 */
function refuseFraming(res: HttpResponse, fault: string): void {
  res.onAborted(() => {})
  res.writeStatus(statusLine(400))
  res.writeHeader('Content-Type', 'application/json; charset=utf-8')
  res.writeHeader('Connection', 'close')
  res.write(JSON.stringify({ message: fault }).padEnd(17_000))
  res.close()
}
