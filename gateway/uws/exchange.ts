/** One request and its reply on one socket. */

import type { HttpRequest, HttpResponse } from 'uWebSockets.js'
import type { AddressSet } from '../../conf/addresses.js'
import type { Awaitable } from '../../conf/awaitable.js'
import type { Reply, Request, RequestHeaders } from '../../conf/http.js'
import { type Client, clientOf } from '../client-address.js'
import { type BodySource, IncomingBody, NO_BODY } from '../incoming-body.js'
import { isStreamed, longBytesOf, type StreamedReply, writeHead, writeReply } from './reply.js'
import { ReplyStream } from './reply-stream.js'
import type { ArrivingBody, SlowBodies } from './slow-bodies.js'

export interface ExchangeOptions {
  readonly trustedProxies: AddressSet
  /** Answers a request; never throws. */
  readonly handle: (request: Request) => Awaitable<Reply>
  /** Told of what goes wrong after the reply's head is on its way, when no answer can say it. */
  readonly onBroken: (request: Request, error: unknown) => void
}

/** What the exchanges of one listener share. */
export interface ExchangeState {
  /** Open connections. */
  connections: number
  /** Requests that have no whole answer yet. */
  running: number
  /** Whether each connection is closed after its next answer. */
  isDraining: boolean
  readonly slowBodies: SlowBodies
}

/** A body that says it is no longer is taken in whole before anybody is asked for an answer. */
const WHOLE_BODY_BYTES_MAX = 65_536

/** A body that is still coming may be this large for the connection to be worth keeping. */
const LEFTOVER_BYTES_MAX = 1_048_576

const idPrefix = process.pid.toString(36)
let idCounter = 0

/** One request and its reply on one socket. */
export class Exchange implements Request, BodySource, ArrivingBody {
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
  /** Set while the library's timer may end the request before its response. */
  #slowBodies: SlowBodies | undefined
  /** Set while the body is taken in before the request is answered. */
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

  /** Reads no more of the body for now. */
  pause(): void {
    this.#isPaused = true
    if (!this.#isAborted) this.#res.pause()
  }

  /** Reads on. */
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

  /** The library starts its timer when a socket is resumed, and resumes it as it was paused. */
  restartTimer(): void {
    this.#res.pause()
    this.#res.resume()
  }

  #leaveSlowBodies(): void {
    this.#slowBodies?.remove(this)
    this.#slowBodies = undefined
  }

  /** Nothing reads the body any more. To be called before the response ends. */
  #discardBody(): void {
    this.#leaveSlowBodies()
    this.#incoming?.discard()
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

  /** Has the request answered and writes the reply, at once where it is there. Never throws. */
  run(state: ExchangeState): void {
    if (this.#incoming !== undefined) {
      this.#slowBodies = state.slowBodies
      state.slowBodies.add(this)
    }
    if (this.#incoming !== undefined && this.#isSmall()) {
      this.#res.onAborted(() => this.#aborted())
      this.#waiting = state
      state.running += 1
    } else {
      this.#answer(state)
    }
  }

  /** Who waits to be told to go on is answered before the body comes (RFC 9110 §10.1.1). */
  #isSmall(): boolean {
    if (this.#isChunked || this.headers.has('expect')) return false
    return Number(this.headers.get('content-length')) <= WHOLE_BODY_BYTES_MAX
  }

  #stopWaiting(state: ExchangeState): ExchangeState {
    this.#waiting = undefined
    state.running -= 1
    return state
  }

  /** To be called where the socket is corked. */
  #answer(state: ExchangeState): void {
    const reply = this.#options.handle(this)
    // A closed socket tells no address, and who has to wait may come to ask for it.
    if (reply instanceof Promise) this.#lookUpClient()
    const isRead = this.#incoming?.isComplete !== false
    if (reply instanceof Promise || !isRead || state.isDraining || isStreamed(reply)) {
      this.#res.onAborted(() => this.#aborted())
      void this.#reply(reply, state)
      return
    }
    this.#discardBody()
    const sending = this.#write(reply, false)
    if (sending === undefined) return
    this.#res.onAborted(() => this.#aborted())
    state.running += 1
    void sending.then(() => {
      state.running -= 1
    })
  }

  async #reply(promised: Awaitable<Reply>, state: ExchangeState): Promise<void> {
    state.running += 1
    const reply = await promised
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
    const isUnread = this.#isAborted || this.method === 'HEAD'
    if (isUnread && isStreamed(reply)) await reply.body[Symbol.asyncIterator]().return?.()
    if (this.#isAborted) return
    const isLast = isDraining || this.#mustClose()
    if (!isUnread && isStreamed(reply)) return this.#sendStream(reply, isLast)
    this.#discardBody()
    if (isLast) await this.#stopReading()
    if (this.#isAborted) return
    let sending: Promise<void> | undefined
    this.#res.cork(() => {
      sending = this.#write(reply, isLast)
    })
    await sending
  }

  /** Settles when a long body has gone out, or its reader; undefined where all did at once. */
  #write(reply: Reply, isLast: boolean): Promise<void> | undefined {
    const bytes = this.method === 'HEAD' ? undefined : longBytesOf(reply)
    if (bytes === undefined) {
      writeReply(this.#res, this, reply, isLast)
      return undefined
    }
    this.#stream = new ReplyStream(this.#res)
    this.#writeHead(reply, isLast)
    return this.#stream.sendBytes(bytes)
  }

  /** Of a body that does not end with the same call. */
  #writeHead(reply: Reply, isLast: boolean): void {
    writeHead(this.#res, this.id, reply)
    if (isLast) this.#res.writeHeader('Connection', 'close')
  }

  /**
   * Told to close after a stream, the library would write its `Connection: close` into the body.
   * So the head says it; a client that does not heed it meets a connection that is read no more,
   * until the library finds it idle.
   */
  async #sendStream(reply: StreamedReply, isLast: boolean): Promise<void> {
    const stream = new ReplyStream(this.#res)
    this.#stream = stream
    this.#res.cork(() => this.#writeHead(reply, isLast))
    // The last byte of a known length ends the answer, so the request must be over by then.
    if (reply.bodyBytes !== undefined) {
      this.#discardBody()
      if (isLast) await this.#stopReading()
      return stream.sendWhole(reply.body, reply.bodyBytes)
    }
    await stream.sendChunks(reply.body)
    if (this.#isAborted) return
    this.#discardBody()
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
    this.#leaveSlowBodies()
    if (this.#waiting !== undefined) this.#stopWaiting(this.#waiting)
    this.#incoming?.cut()
    this.#abort?.abort()
    this.#stream?.leave()
  }
}
