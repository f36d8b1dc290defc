/** The HTTP listener: creates an exchange for each request, and ends in an orderly way. */

import uws, { type HttpResponse, type us_listen_socket } from 'uWebSockets.js'
import type { HostPort } from '../../conf/field.js'
import { statusLine } from '../../conf/http.js'
import { createDrain, type DrainTimes } from './drain.js'
import { Exchange, type ExchangeOptions, type ExchangeState } from './exchange.js'
import { framingFault } from './framing.js'
import { SentHeaders } from './sent-headers.js'
import { SlowBodies } from './slow-bodies.js'

export interface ListenOptions extends ExchangeOptions {
  readonly listen: HostPort
}

export interface Listener {
  /** The port that is bound; the system chooses it if the option is 0. */
  readonly port: number
  /** Ends in steps. A later call changes the durations. Resolves when no connection is open. */
  drain(times: DrainTimes): Promise<void>
}

/** Listens on a port, which several processes can share. Throws if the port is not available. */
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
    // Closing a socket of this library twice ends the process.
    drain: createDrain(state, {
      closeListener: () => uws.us_listen_socket_close(socket),
      closeConnections: () => app.close(),
    }),
  }
}

/**
 * Replies 400 and closes the connection immediately, so that no bytes behind the malformed head are
 * read as a request. A graceful end would run a pipelined request first. A short write would be
 * lost with the close, so the body is padded beyond the library's write buffer (16 KiB).
 */
function refuseFraming(res: HttpResponse, fault: string): void {
  res.onAborted(() => {})
  res.writeStatus(statusLine(400))
  res.writeHeader('Content-Type', 'application/json; charset=utf-8')
  res.writeHeader('Connection', 'close')
  res.write(JSON.stringify({ message: fault }).padEnd(17_000))
  res.close()
}
