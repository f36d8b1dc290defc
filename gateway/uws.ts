/** The only room that speaks to uWebSockets.js: sockets become requests, replies become bytes. */

import uws, { type HttpRequest, type HttpResponse, type us_listen_socket } from 'uWebSockets.js'
import type { AddressSet } from '../conf/addresses.js'
import type { HostPort } from '../conf/field.js'
import { type Reply, type Request, statusLine } from '../conf/http.js'
import { type Client, clientOf } from './client-address.js'
import { framingFault } from './framing.js'
import { IncomingBody, NO_BODY } from './incoming-body.js'

export interface ListenOptions {
  readonly listen: HostPort
  readonly trustedProxies: AddressSet
  /** Answers a request; never throws. */
  readonly handle: (request: Request) => Promise<Reply>
  /** Told of what goes wrong after the reply's head is on its way, when no answer can say it. */
  readonly onBroken: (request: Request, error: unknown) => void
}

export interface Listener {
  /** The port that was bound; differs from the wanted one when that was 0. */
  readonly port: number
  /** Stops accepting; resolves when the running requests have ended, or after `graceMs`. */
  drain(graceMs: number): Promise<void>
}

/** A body that is still coming may be this large for the connection to be worth keeping. */
const LEFTOVER_BYTES_MAX = 1_048_576

/** What the library writes itself: the length, the coding, and whether the connection stays. */
const OWN_HEADERS = /^(?:content-length|transfer-encoding|connection)$/i
const OWN_HEADER_LENGTHS: ReadonlySet<number> = new Set([14, 17, 10])

/** A name that ended up in a header must not begin a header of its own (RFC 9110 §5.5). */
const CONTROL_CHARACTERS = /[\u0000-\u001f\u007f]/g

/** Listens; several processes may listen on the same port. Throws when the port cannot be had. */
export async function listen(options: ListenOptions): Promise<Listener> {
  const state: ListenState = { running: 0, isDraining: false, isClosed: false }
  const app = uws.App()
  app.any('/*', (res, req) => {
    const headers: Array<readonly [string, string]> = []
    req.forEach((name, value) => {
      headers.push([name, value])
    })
    const fault = framingFault(headers)
    if (fault !== undefined) return refuseFraming(res, fault)
    void new Exchange(res, req, headers, options).run(state)
  })
  const { host, port } = options.listen
  const socket = await new Promise<us_listen_socket | false>((resolve) => {
    app.listen(host, port, resolve)
  })
  if (socket === false) throw new Error(`cannot listen on ${host}:${port}: is the port in use?`)
  return {
    port: uws.us_socket_local_port(socket),
    async drain(graceMs) {
      // The library keeps no count: a socket that is closed twice ends the process.
      if (!state.isDraining) uws.us_listen_socket_close(socket)
      state.isDraining = true
      const end = Date.now() + graceMs
      while (state.running > 0 && Date.now() < end) {
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
      if (!state.isClosed) app.close()
      state.isClosed = true
    },
  }
}

interface ListenState {
  /** Requests that have no whole answer yet. */
  running: number
  isDraining: boolean
  isClosed: boolean
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

/**
 * What the library's cork buffer (16 KiB) holds beside the length of a chunk. Of a larger write it
 * sends the length first; finds it the socket full at that moment, it keeps the length and drops
 * the bytes (uWebSockets.js 20.51), and the client reads the next chunk as a part of this one.
 */
const CORKED_BYTES_MAX = 16_000

/**
 * What the cork buffer holds beside the headers. A larger body is offered to the socket, which says
 * how much of it was taken: nothing is lost, and nothing is copied to wait.
 */
const LARGE_BYTES = 8_192
const SLICE_BYTES = 1_048_576

function isLarge(body: string | Uint8Array): boolean {
  // A character is at most three bytes, so most texts need not be counted.
  return body.length * 3 > LARGE_BYTES && Buffer.byteLength(body) > LARGE_BYTES
}

async function* slicesOf(body: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < body.byteLength; start += SLICE_BYTES) {
    yield body.subarray(start, start + SLICE_BYTES)
  }
}

function isIterable(body: Reply['body']): body is AsyncIterable<Uint8Array> {
  return typeof body === 'object' && Symbol.asyncIterator in body
}

type StreamedReply = Reply & { readonly body: AsyncIterable<Uint8Array> }

const idPrefix = process.pid.toString(36)
let idCounter = 0

/** One request and its reply on one socket. */
class Exchange implements Request {
  readonly id: string
  readonly method: string
  readonly path: string
  readonly query: string
  readonly headers: ReadonlyMap<string, string>
  readonly body: AsyncIterable<Uint8Array>
  readonly #res: HttpResponse
  readonly #options: ListenOptions
  readonly #incoming: IncomingBody | undefined
  readonly #isChunked: boolean
  #client: Client | undefined
  #abort: AbortController | undefined
  #isAborted = false
  #wake: ((offset: number) => void) | undefined

  constructor(
    res: HttpResponse,
    req: HttpRequest,
    headers: ReadonlyArray<readonly [string, string]>,
    options: ListenOptions,
  ) {
    idCounter += 1
    this.id = `${idPrefix}-${idCounter.toString(36)}`
    this.method = req.getMethod().toUpperCase()
    this.path = req.getUrl()
    this.query = req.getQuery() ?? ''
    this.headers = joinHeaders(headers)
    this.#res = res
    this.#options = options
    this.#isChunked = this.headers.has('transfer-encoding')
    res.onAborted(() => this.#aborted())
    if (this.#isChunked || (this.headers.get('content-length') ?? '0') !== '0') {
      const incoming = new IncomingBody({
        pause: () => this.#isAborted || res.pause(),
        resume: () => this.#isAborted || res.resume(),
      })
      res.onData((chunk, isLast) => incoming.push(new Uint8Array(chunk), isLast))
      this.#incoming = incoming
      this.body = incoming
    } else {
      this.body = NO_BODY
    }
    // A closed socket tells no address: those who sign in or bring something are asked at once.
    if (this.#incoming !== undefined || this.headers.has('authorization')) this.#lookUpClient()
  }

  get address(): string {
    return this.#lookUpClient().address
  }

  get scheme(): string {
    return this.#lookUpClient().scheme
  }

  /** Asking the socket costs a quarter of the smallest answer, and most have no use for it. */
  #lookUpClient(): Client {
    if (this.#client !== undefined) return this.#client
    if (this.#isAborted) return { address: '', scheme: 'http' }
    const peer = Buffer.from(this.#res.getRemoteAddressAsText()).toString('latin1')
    this.#client = clientOf(peer, this.headers, this.#options.trustedProxies)
    return this.#client
  }

  get signal(): AbortSignal {
    this.#abort ??= new AbortController()
    if (this.#isAborted) this.#abort.abort()
    return this.#abort.signal
  }

  /** Has the request answered and writes the reply. Never rejects. */
  async run(state: ListenState): Promise<void> {
    state.running += 1
    const reply = await this.#options.handle(this)
    // Until what came with it is parsed: a request that follows before this one is answered ends
    // the connection, where one that follows the answer in the same packet would run.
    if (this.#isChunked) await new Promise((resolve) => setImmediate(resolve))
    try {
      await this.#send(reply, state.isDraining)
    } catch (error) {
      if (!this.#isAborted) {
        this.#options.onBroken(this, error)
        // The length was not promised, so only a broken connection tells the reader.
        this.#res.close()
      }
    }
    state.running -= 1
  }

  async #send(reply: Reply, isDraining: boolean): Promise<void> {
    const { body } = reply
    const isStream = isIterable(body)
    if (this.#isAborted || (isStream && this.method === 'HEAD')) {
      if (isStream) await body[Symbol.asyncIterator]().return?.()
      if (this.#isAborted) return
    }
    const isLast = isDraining || this.#mustClose()
    if (isStream && this.method !== 'HEAD') return this.#sendStream({ ...reply, body }, isLast)
    if (body !== undefined && !isStream && isLarge(body) && this.method !== 'HEAD') {
      const bytes = typeof body === 'string' ? Buffer.from(body) : body
      const bodyBytes = bytes.byteLength
      return this.#sendStream({ ...reply, body: slicesOf(bytes), bodyBytes }, isLast)
    }
    this.#incoming?.discard()
    if (isLast) await this.#stopReading()
    if (this.#isAborted) return
    this.#res.cork(() => {
      this.#writeHead(reply)
      if (this.method === 'HEAD') this.#endWithoutBody(lengthOf(reply), isLast)
      else if (body === undefined) this.#endWithoutBody(bodilessLength(reply.status), isLast)
      else this.#res.end(body as string | Uint8Array, isLast)
    })
  }

  /**
   * Told to close after a stream, the library would write its `Connection: close` into the body.
   * So the head says it; a client that does not heed it meets a connection that is read no more,
   * until the library finds it idle.
   */
  async #sendStream(reply: StreamedReply, isLast: boolean): Promise<void> {
    this.#res.onWritable((offset) => {
      this.#wake?.(offset)
      return true
    })
    this.#res.cork(() => {
      this.#writeHead(reply)
      if (isLast) this.#res.writeHeader('Connection', 'close')
    })
    // The last byte of a known length ends the answer, so the request must be over by then.
    if (reply.bodyBytes !== undefined) {
      this.#incoming?.discard()
      if (isLast) await this.#stopReading()
      return this.#streamWhole(reply.body, reply.bodyBytes)
    }
    await this.#stream(reply.body)
    if (this.#isAborted) return
    this.#incoming?.discard()
    if (isLast) await this.#stopReading()
    if (!this.#isAborted) this.#res.cork(() => this.#res.end())
  }

  /**
   * To be awaited before the last reply of a connection ends: nothing behind the request may run.
   * What came in the same read would, if it were parsed after that end. So the read is parsed to
   * its end first, where a request behind one whose reply is pending cuts the connection; and what
   * comes later is not read.
   */
  async #stopReading(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve))
    if (!this.#isAborted) this.#res.pause()
  }

  async #stream(body: AsyncIterable<Uint8Array>): Promise<void> {
    for await (const chunk of body) {
      for (let start = 0; start < chunk.byteLength && !this.#isAborted; start += CORKED_BYTES_MAX) {
        let isFlowing = true
        const drained = this.#untilWritable()
        this.#res.cork(() => {
          isFlowing = this.#res.write(chunk.subarray(start, start + CORKED_BYTES_MAX))
        })
        if (!isFlowing) await drained
      }
      if (this.#isAborted) return
    }
  }

  /** A known length is told, and nothing is copied: what the socket does not take waits here. */
  async #streamWhole(body: AsyncIterable<Uint8Array>, totalBytes: number): Promise<void> {
    for await (const chunk of body) {
      if (this.#isAborted) return
      const start = this.#res.getWriteOffset()
      for (let rest = chunk; rest.byteLength > 0; ) {
        let outcome: readonly [isTaken: boolean, isDone: boolean] = [true, false]
        const writable = this.#untilWritable()
        const part = rest
        this.#res.cork(() => {
          outcome = this.#res.tryEnd(part, totalBytes)
        })
        if (outcome[1]) return
        if (outcome[0]) break
        const offset = await writable
        if (this.#isAborted) return
        rest = chunk.subarray(offset - start)
      }
    }
    if (!this.#isAborted) throw new Error('a body ended before its length')
  }

  /** Settles with the bytes of the body that were taken so far, or when the client has gone. */
  #untilWritable(): Promise<number> {
    return new Promise((resolve) => {
      this.#wake = resolve
    })
  }

  /** All headers in one call: each crosses into the library at the price of a small route. */
  #writeHead(reply: Reply): void {
    this.#res.writeStatus(statusLine(reply.status))
    let lines: string = this.id
    for (const [name, value] of reply.headers ?? []) {
      if (OWN_HEADER_LENGTHS.has(name.length) && OWN_HEADERS.test(name)) continue
      lines += `\r\n${name}: ${value.replace(CONTROL_CHARACTERS, ' ')}`
    }
    this.#res.writeHeader('X-Request-Id', lines)
  }

  /**
   * The library takes undefined for a length of 2^63, and an answer whose length it was told for
   * unfinished: the connection's next request would end it. So it is told one only to close.
   */
  #endWithoutBody(length: number | undefined, close: boolean): void {
    if (close) {
      this.#res.endWithoutBody(length ?? 0, true)
      return
    }
    if (length !== undefined) this.#res.writeHeader('Content-Length', String(length))
    this.#res.endWithoutBody()
  }

  /**
   * A chunked body always ends its connection: the library does not check how a chunk ends, so
   * what it took for the next request may be part of this one.
   */
  #mustClose(): boolean {
    if (this.#isChunked) return true
    if (this.#incoming === undefined || this.#incoming.isComplete) return false
    const length = Number(this.headers.get('content-length'))
    return length - this.#incoming.receivedBytes > LEFTOVER_BYTES_MAX
  }

  #aborted(): void {
    this.#isAborted = true
    this.#incoming?.cut()
    this.#abort?.abort()
    this.#wake?.(0)
  }
}

function joinHeaders(
  headers: ReadonlyArray<readonly [string, string]>,
): ReadonlyMap<string, string> {
  const joined = new Map<string, string>()
  for (const [name, value] of headers) {
    const before = joined.get(name)
    joined.set(name, before === undefined ? value : `${before}, ${value}`)
  }
  return joined
}

/** What a GET would have announced. */
function lengthOf(reply: Reply): number | undefined {
  if (typeof reply.body === 'string') return Buffer.byteLength(reply.body)
  if (reply.body instanceof Uint8Array) return reply.body.byteLength
  const announced = reply.headers?.find(([name]) => name.toLowerCase() === 'content-length')?.[1]
  return announced === undefined ? undefined : Number(announced)
}

/** 204 and 304 carry no length at all (RFC 9110 §8.6); any other empty answer says zero. */
function bodilessLength(status: number): number | undefined {
  return status === 204 || status === 304 ? undefined : 0
}
