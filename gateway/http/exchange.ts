/** An HTTP exchange: a request and its reply on one socket. */

import type { HttpRequest, HttpResponse } from 'uWebSockets.js'
import type { AddressSet } from '../../conf/addresses.js'
import type { Reply, Request, RequestHeaders } from '../../conf/http.js'
import { type Awaitable, after } from '../../conf/lib/awaitable.js'
import { type Client, clientOf } from './client-address.js'
import { type BodySource, type DrainLimits, IncomingBody, NO_BODY } from './incoming-body.js'
import {
  type ConnectionEnd,
  isStreamed,
  longBytesOf,
  type StreamedReply,
  writeHead,
  writeReply,
} from './reply.js'
import { ReplyStream } from './reply-stream.js'
import { leaveToProxy, type SendfileOptions } from './sendfile.js'
import type { SlowBodies, SlowBody } from './slow-bodies.js'

export interface ExchangeOptions {
  readonly trustedProxies: AddressSet
  /** True if the listener serves HTTPS itself. */
  readonly isTls: boolean
  /** Way in which the proxy that forwarded a request sends large files; absent if it does not. */
  readonly sendfile?: SendfileOptions | undefined
  /** Returns the reply to a request. Never throws. */
  readonly handle: (request: Request) => Awaitable<Reply>
  /** Reports an error that occurred after the head of the reply was sent. */
  readonly onBroken: (request: Request, error: unknown) => void
}

/** State that the exchanges of one listener share. */
export interface ExchangeState {
  /** Number of open connections. */
  connections: number
  /** Number of requests whose reply is not complete. */
  running: number
  /** Monotonic time, in milliseconds, at which the last long body was passed to the library. */
  longBodyEndedAtMs: number
  /** True if each connection is closed after its next reply. */
  isDraining: boolean
  readonly slowBodies: SlowBodies
}

/** Bodies whose Content-Length is at most this many bytes are buffered before the handler runs. */
const WHOLE_BODY_BYTES_MAX = 65_536

/** Limits of reading the rest of a body with chunks whose request has been refused. */
const DRAIN_LIMITS = { bytesMax: 134_217_728, timeoutMs: 10_000, idleMs: 2_000 }

/** Limits of reading it before a streamed reply ends, which a slow client may delay. */
const STREAM_DRAIN_LIMITS = { ...DRAIN_LIMITS, idleMs: DRAIN_LIMITS.timeoutMs }

/** Number of missing bytes of a body above which its reply has `Connection: close`. */
const LEFTOVER_BYTES_MAX = 1_048_576

const idPrefix = process.pid.toString(36)
let idCounter = 0

/** A request and its reply on one socket. */
export class Exchange implements Request, BodySource, SlowBody {
  readonly id: string
  readonly method: string
  readonly path: string
  readonly query: string
  readonly headers: RequestHeaders
  readonly body: AsyncIterable<Uint8Array>
  readonly #res: HttpResponse
  readonly #options: ExchangeOptions
  readonly #incoming: IncomingBody | undefined
  readonly #isChunked: boolean
  #isPaused = false
  /** The list that has this request while the library's timer may end it before its reply. */
  #slowBodies: SlowBodies | undefined
  /** The listener's state, while the body is buffered before the handler runs. */
  #waiting: ExchangeState | undefined
  #client: Client | undefined
  #abort: AbortController | undefined
  #isAborted = false
  #stream: ReplyStream | undefined

  constructor(
    res: HttpResponse,
    req: HttpRequest,
    headers: RequestHeaders,
    options: ExchangeOptions,
  ) {
    idCounter += 1
    this.id = `${idPrefix}-${idCounter}`
    this.method = req.getCaseSensitiveMethod()
    this.path = req.getUrl()
    this.query = req.getQuery() ?? ''
    this.headers = headers
    this.#res = res
    this.#options = options
    this.#isChunked = this.headers.has('transfer-encoding')
    if (this.#isChunked || (this.headers.get('content-length') ?? '0') !== '0') {
      const incoming = new IncomingBody(this)
      res.onData((chunk, isLast) => {
        if (isLast && !this.#isPaused) this.#leaveSlowBodies()
        incoming.push(new Uint8Array(chunk), isLast)
        if (isLast && this.#waiting !== undefined) this.#answer(this.#stopWaiting(this.#waiting))
      })
      this.#incoming = incoming
      this.body = incoming
    } else {
      this.body = NO_BODY
    }
  }

  /** Stops reading the body until `resume` is called. */
  pause(): void {
    this.#isPaused = true
    if (!this.#isAborted) this.#res.pause()
  }

  /** Continues reading the body. */
  resume(): void {
    this.#isPaused = false
    if (!this.#isAborted) this.#res.resume()
  }

  get receivedBytes(): number {
    return this.#incoming?.receivedBytes ?? 0
  }

  get isComplete(): boolean {
    return this.#incoming?.isComplete !== false
  }

  get isPaused(): boolean {
    return this.#isPaused
  }

  /** Restarts the library's timer, which starts when a paused socket is resumed. */
  restartTimer(): void {
    this.#res.pause()
    this.#res.resume()
  }

  /** Stops the library's timer, because it pauses the socket once more. */
  stopTimer(): void {
    this.#res.pause()
  }

  giveUp(): void {
    this.#res.close()
  }

  #leaveSlowBodies(): void {
    this.#slowBodies?.remove(this)
  }

  /** Drops the rest of the body. Must be called before the reply ends. */
  #discardBody(): void {
    this.#leaveSlowBodies()
    this.#incoming?.discard()
  }

  /**
   * Drops the rest of the body; waits for the end of one with chunks. A client that gets the whole
   * reply before it has sent the end stops sending: git then takes a push for failed.
   */
  async #finishBody(limits: DrainLimits): Promise<void> {
    this.#discardBody()
    if (this.#isChunked) await this.#incoming?.drain(limits)
  }

  get address(): string {
    return this.#lookUpClient().address
  }

  get scheme(): string {
    return this.#lookUpClient().scheme
  }

  /** Reads the address on first use: it costs a quarter of the smallest reply, and few need it. */
  #lookUpClient(): Client {
    if (this.#client !== undefined) return this.#client
    if (this.#isAborted) return { address: '', scheme: 'http', isForwarded: false }
    const peer = Buffer.from(this.#res.getRemoteAddressAsText()).toString('latin1')
    const { trustedProxies, isTls } = this.#options
    const ownScheme = isTls ? 'https' : 'http'
    this.#client = clientOf(peer, this.headers, { trustedProxies, ownScheme })
    return this.#client
  }

  get signal(): AbortSignal {
    this.#abort ??= new AbortController()
    if (this.#isAborted) this.#abort.abort()
    return this.#abort.signal
  }

  /** Runs the handler and writes its reply, synchronously if there is no promise. Never throws. */
  run(state: ExchangeState): void {
    this.#slowBodies = state.slowBodies
    if (this.#incoming !== undefined) state.slowBodies.add(this)
    if (this.#incoming !== undefined && this.#isSmall()) {
      this.#res.onAborted(() => this.#aborted())
      this.#waiting = state
      state.running += 1
    } else {
      this.#answer(state)
    }
  }

  /**
   * Returns true if the body is buffered before the handler runs. A client that sends `Expect` may
   * wait for the reply before it sends the body (RFC 9110 §10.1.1).
   */
  #isSmall(): boolean {
    if (this.#isChunked || this.headers.has('expect')) return false
    return Number(this.headers.get('content-length')) <= WHOLE_BODY_BYTES_MAX
  }

  #stopWaiting(state: ExchangeState): ExchangeState {
    this.#waiting = undefined
    state.running -= 1
    return state
  }

  /** Runs the handler and starts its reply. Must be called while the socket is corked. */
  #answer(state: ExchangeState): void {
    const reply = this.#handle()
    // A handler may need the address after a wait, when a closed socket has none.
    if (reply instanceof Promise) this.#lookUpClient()
    const isRead = this.#incoming?.isComplete !== false
    if (reply instanceof Promise || !isRead || state.isDraining || isStreamed(reply)) {
      this.#res.onAborted(() => this.#aborted())
      void this.#reply(reply, state)
      return
    }
    this.#discardBody()
    const sending = this.#write(reply, 'keep')
    if (sending === undefined) return
    this.#res.onAborted(() => this.#aborted())
    state.running += 1
    void sending.then(() => this.#end(state))
  }

  /** Returns the handler's reply, or one with which the proxy sends the body from its file. */
  #handle(): Awaitable<Reply> {
    const { handle, sendfile } = this.#options
    if (sendfile === undefined || this.method === 'HEAD') return handle(this)
    return after(handle(this), (reply) => {
      if (reply.bodyFile === undefined || !this.#lookUpClient().isForwarded) return reply
      return leaveToProxy(reply, sendfile) ?? reply
    })
  }

  async #reply(promised: Awaitable<Reply>, state: ExchangeState): Promise<void> {
    state.running += 1
    const reply = await promised
    // Waits until the bytes of the same read are parsed: a request behind this one then ends the
    // connection. If the reply were sent first, that request would run.
    if (this.#isChunked) await new Promise((resolve) => setImmediate(resolve))
    try {
      await this.#send(reply, state.isDraining)
    } catch (error) {
      if (!this.#isAborted) {
        this.#options.onBroken(this, error)
        // The length was not announced: only a broken connection shows that the body is cut.
        this.#res.close()
      }
    }
    this.#end(state)
  }

  #end(state: ExchangeState): void {
    state.running -= 1
    if (this.#stream !== undefined) state.longBodyEndedAtMs = performance.now()
  }

  async #send(reply: Reply, isDraining: boolean): Promise<void> {
    const isUnread = this.#isAborted || this.method === 'HEAD'
    if (isUnread && isStreamed(reply)) await closeUnread(reply)
    if (this.#isAborted) return
    if (!isUnread && isStreamed(reply)) {
      return this.#sendStream(reply, this.#connectionEnd(isDraining))
    }
    await this.#finishBody(DRAIN_LIMITS)
    const end = this.#connectionEnd(isDraining)
    if (end !== 'keep') await this.#stopReading(end)
    if (this.#isAborted) return
    let sending: Promise<void> | undefined
    this.#res.cork(() => {
      sending = this.#write(reply, end)
    })
    await sending
  }

  /** Settles when a long body is sent or the client has left; undefined if all is sent already. */
  #write(reply: Reply, end: ConnectionEnd): Promise<void> | undefined {
    const bytes = this.method === 'HEAD' ? undefined : longBytesOf(reply)
    if (bytes === undefined) {
      writeReply(this.#res, this, reply, end)
      return undefined
    }
    const stream = this.#newStream()
    this.#writeStreamHead(reply, end)
    return stream.sendBytes(bytes)
  }

  #newStream(): ReplyStream {
    const isRead = () => !this.#isPaused
    this.#stream = new ReplyStream(this.#res, { slowBodies: this.#slowBodies, isRead })
    return this.#stream
  }

  /** Writes the head of a reply whose body is not written by the same call. */
  #writeStreamHead(reply: Reply, end: ConnectionEnd): void {
    writeHead(this.#res, this.id, reply, end === 'close' ? 'linger' : end)
  }

  /**
   * Sends a reply whose body is a stream. If the library closed the connection after a stream, it
   * would write `Connection: close` into the body. So the head contains the header, and a client
   * that ignores it has a connection that is not read, until the library closes it as idle.
   */
  async #sendStream(reply: StreamedReply, end: ConnectionEnd): Promise<void> {
    const stream = this.#newStream()
    this.#res.cork(() => this.#writeStreamHead(reply, end))
    // The last byte of a body of known length ends the reply, so the request must end before it.
    if (reply.bodyBytes !== undefined) {
      await this.#finishBody(STREAM_DRAIN_LIMITS)
      if (end !== 'keep') await this.#stopReading(end)
      if (this.#isAborted) return closeUnread(reply)
      return stream.sendWhole(reply.body, reply.bodyBytes)
    }
    await stream.sendChunks(reply.body)
    if (this.#isAborted) return
    await this.#finishBody(STREAM_DRAIN_LIMITS)
    if (end !== 'keep') await this.#stopReading(end)
    if (!this.#isAborted) this.#res.cork(() => this.#res.end())
  }

  /**
   * Prevents that bytes behind this request run as another one. Must be awaited before the last
   * reply of a connection ends. The bytes of the current read are parsed to their end first: the
   * library cuts a connection that brings a request while a reply is pending. Later bytes are not
   * read. If the connection lingers, the library reads and drops the rest of the body, which has a
   * known length: a client that sends all of it before it reads the reply gets the reply.
   */
  async #stopReading(end: ConnectionEnd): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve))
    if (end === 'close') this.pause()
  }

  #connectionEnd(isDraining: boolean): ConnectionEnd {
    if (!isDraining && !this.#mustClose()) return 'keep'
    const isArriving = this.#incoming?.isComplete === false
    return isArriving && !this.#isChunked ? 'linger' : 'close'
  }

  /**
   * Returns true if the connection must not be used for another request. A chunked body always ends
   * its connection: the library does not check how a chunk ends, so the bytes that it takes for the
   * next request may be a part of this one.
   */
  #mustClose(): boolean {
    if (this.#isChunked) return true
    if (this.#incoming === undefined || this.#incoming.isComplete) return false
    const length = Number(this.headers.get('content-length'))
    return length - this.#incoming.receivedBytes > LEFTOVER_BYTES_MAX
  }

  #aborted(): void {
    this.#isAborted = true
    this.#leaveSlowBodies()
    if (this.#waiting !== undefined) this.#stopWaiting(this.#waiting)
    this.#incoming?.cut()
    this.#abort?.abort()
    this.#stream?.leave()
  }
}

/** Ends the stream of a reply that is not sent. */
async function closeUnread({ body }: StreamedReply): Promise<void> {
  await body[Symbol.asyncIterator]().return?.()
}
