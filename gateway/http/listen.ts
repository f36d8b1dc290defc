/** The HTTP listener: creates an exchange for each request, and ends in an orderly way. */

import uws, { type HttpResponse, type TemplatedApp, type us_listen_socket } from 'uWebSockets.js'
import { createServer } from 'node:net'
import { addressOf, type HostPort } from '../../conf/field.js'
import { statusLine } from '../../conf/http.js'
import type { TlsFiles } from '../../conf/settings.js'
import { checkCertificate } from './certificate.js'
import { createDrain, type DrainTimes } from './drain.js'
import { Exchange, type ExchangeOptions, type ExchangeState } from './exchange.js'
import { framingFault } from './framing.js'
import { SentHeaders } from './sent-headers.js'
import { SlowBodies } from './slow-bodies.js'

export interface ListenOptions extends Omit<ExchangeOptions, 'isTls'> {
  /** Addresses to listen on; there is at least one. */
  readonly listen: readonly HostPort[]
  /** Certificate for HTTPS; undefined for HTTP. */
  readonly tls?: TlsFiles | undefined
  /** Addresses whose requests are redirected to the same path of an origin. */
  readonly redirect?: Redirect
}

interface Redirect {
  readonly listen: readonly HostPort[]
  readonly origin: string
}

export interface Listener {
  /** Port of the first address; the system chooses it if the option is 0. */
  readonly port: number
  /** Ends in steps. A later call changes the durations. Resolves when no connection is open. */
  drain(times: DrainTimes): Promise<void>
}

/**
 * Listens on ports, which several processes can share. Throws an Error for the user if a port is
 * not available or the certificate cannot be used.
 */
export async function listen(options: ListenOptions): Promise<Listener> {
  const slowBodies = new SlowBodies()
  const state: ExchangeState = {
    connections: 0,
    running: 0,
    longBodyEndedAtMs: Number.NEGATIVE_INFINITY,
    isDraining: false,
    slowBodies,
  }
  const app = createApp(options.tls)
  // The library keeps the handlers until the process ends, but they need not keep the server.
  const kept: { options: ExchangeOptions | undefined } = {
    options: { ...options, isTls: options.tls !== undefined },
  }
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
    if (kept.options === undefined) return void res.close()
    new Exchange(res, req, headers, kept.options).run(state)
  })
  const { redirect = { listen: [], origin: '' } } = options
  const redirecting = createRedirect(redirect.origin)
  const apps = [app, redirecting]
  const closeConnections = () => {
    for (const each of apps) each.close()
    kept.options = undefined
  }
  try {
    const sockets = [
      ...(await openAll(app, options.listen)),
      ...(await openAll(redirecting, redirect.listen)),
    ]
    return {
      port: uws.us_socket_local_port(sockets[0] as us_listen_socket),
      // Closing a socket of this library twice ends the process.
      drain: createDrain(state, {
        closeListener: () => {
          for (const socket of sockets) uws.us_listen_socket_close(socket)
        },
        closeConnections,
      }),
    }
  } catch (error) {
    closeConnections()
    throw error
  }
}

/**
 * Ciphers of TLS 1.2: those with forward secrecy and authenticated encryption (RFC 7525 §4.2),
 * which Mozilla's profile "intermediate" has too. The library offers no older protocol.
 */
const TLS_1_2_CIPHERS = 'ECDHE+AESGCM:ECDHE+CHACHA20'

/** Creates an app, with TLS if there is a certificate. The files are read only here. */
function createApp(tls: TlsFiles | undefined): TemplatedApp {
  if (tls === undefined) return uws.App()
  checkCertificate(tls)
  return uws.SSLApp({
    cert_file_name: tls.certificate,
    key_file_name: tls.key,
    ssl_ciphers: TLS_1_2_CIPHERS,
  })
}

/** Creates an app that answers each request with 308 and ends its connection. */
function createRedirect(origin: string): TemplatedApp {
  return uws.App().any('/*', (res, req) => {
    const query = req.getQuery()
    const target = origin + req.getUrl() + (query === undefined ? '' : `?${query}`)
    res.writeStatus(statusLine(308)).writeHeader('Location', target).end('', true)
  })
}

async function openAll(
  app: TemplatedApp,
  addresses: readonly HostPort[],
): Promise<readonly us_listen_socket[]> {
  const sockets: us_listen_socket[] = []
  for (const address of addresses) sockets.push(await open(app, address))
  return sockets
}

async function open(app: TemplatedApp, address: HostPort): Promise<us_listen_socket> {
  const { host, port } = address
  const socket = await new Promise<us_listen_socket | false>((resolve) => {
    app.listen(host, port, resolve)
  })
  if (socket !== false) return socket
  throw new Error(`cannot listen on ${addressOf(address)}: ${await reasonOf(address)}`)
}

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program uses the port; stop it, or choose another port',
  EADDRNOTAVAIL: 'no network interface of this machine has the address',
  EACCES: 'ports below 1024 need root or the capability CAP_NET_BIND_SERVICE',
  ENOTFOUND: 'the name has no address',
}

/** Returns the reason of a failed listen, which the library does not say, by a second attempt. */
async function reasonOf({ host, port }: HostPort): Promise<string> {
  const server = createServer()
  const code = await new Promise<string | undefined>((resolve) => {
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code))
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)))
  })
  return REASONS[code ?? ''] ?? code ?? 'the port was in use'
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
