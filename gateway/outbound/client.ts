/** HTTP client for addresses that users name: it checks and pins the address, and has limits. */

import type { ClientRequest, IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { Failure } from '../../conf/failures.js'
import { type OutboundOptions, resolveOutbound } from './address.js'

// An import would read every export of node:http, one of which loads undici: 90 ms at each start.
const { request: httpRequest } = process.getBuiltinModule('node:http')
const { request: httpsRequest } = process.getBuiltinModule('node:https')

export interface OutboundRequest extends OutboundOptions {
  readonly url: URL
  readonly method?: 'GET' | 'HEAD' | 'POST' | 'PUT'
  /** Headers, sent with their names as written here. `Host` and the length are added. */
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Uint8Array | undefined
  /** Maximum time for the whole call, including redirects. */
  readonly timeoutMs: number
  /** Maximum time without data from the server; by default only `timeoutMs` applies. */
  readonly idleMs?: number
  /** Maximum number of redirects for GET and HEAD; 0 by default. Each address is checked. */
  readonly redirectsMax?: number
  readonly signal?: AbortSignal | undefined
  /** Trusted certificate authorities in PEM, in place of the default ones. */
  readonly authorities?: readonly string[]
  /** True only for a listener of this machine, whose certificate names other hosts. */
  readonly acceptsAnyCertificate?: boolean
}

/** Request whose answer is read into memory. */
export interface OutboundCall extends OutboundRequest {
  /** Number of bytes after which the rest of the answer is not read. */
  readonly answerBytesMax: number
}

export interface OutboundHead {
  readonly status: number
  /** Headers with lower-case names; repeated ones are joined by the rules of `node:http`. */
  readonly headers: Readonly<Record<string, string>>
  /** Address of the answer, after redirects. */
  readonly url: URL
}

export interface OutboundAnswer extends OutboundHead {
  readonly body: Buffer
  /** False if the answer exceeded `answerBytesMax`, so that `body` is truncated. */
  readonly isWhole: boolean
}

/** Reader of an answer. The connection is closed when it returns, even if bytes are unread. */
type Use<T> = (head: OutboundHead, body: AsyncIterable<Buffer>) => Promise<T>

/** Input of one request, which a redirect replaces. */
interface Call extends OutboundRequest {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT'
  readonly headers: Readonly<Record<string, string>>
  readonly signal: AbortSignal
}

/**
 * Sends a request and returns the answer, whatever its status. Throws `invalid` for an address that
 * may not be called, and `bad_gateway` if no answer arrived. Ignores proxies of the environment.
 */
export async function callOutbound(wanted: OutboundCall): Promise<OutboundAnswer> {
  return await streamOutbound(wanted, async (head, body) => ({
    ...head,
    ...(await readAnswer(body, wanted.answerBytesMax)),
  }))
}

/** Sends a request and streams the answer to `use`. Throws like `callOutbound` and `use`. */
export async function streamOutbound<T>(wanted: OutboundRequest, use: Use<T>): Promise<T> {
  const { method = 'GET', headers = {}, redirectsMax = 0, timeoutMs } = wanted
  const deadline = AbortSignal.timeout(timeoutMs)
  const signal = wanted.signal === undefined ? deadline : AbortSignal.any([deadline, wanted.signal])
  let call: Call = { ...wanted, method, headers, signal }
  const problem = (cause: unknown) => {
    if (cause instanceof Failure) return cause
    const reason = deadline.aborted ? `no answer within ${timeoutMs} ms` : reasonOf(cause)
    return new Failure('bad_gateway', `${call.url.host} could not be called: ${reason}`, { cause })
  }
  for (let redirects = 0; ; redirects += 1) {
    const step = await callOnce(call, problem, async (head, body) => {
      const next = redirects < redirectsMax ? redirectOf(call, head) : undefined
      return next === undefined ? { used: await use(head, body) } : { next }
    })
    if ('used' in step) return step.used
    call = step.next
  }
}

function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException
  return code === undefined ? String(message) : code
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

/**
 * Returns the request that follows a redirect, or undefined. Credentials are not sent to another
 * origin, because a server could redirect to one that collects them.
 */
function redirectOf(call: Call, { status, headers, url }: OutboundHead): Call | undefined {
  const { location } = headers
  if (!REDIRECTS.has(status) || location === undefined || isWrite(call)) return undefined
  if (!URL.canParse(location, url.href)) throw refusal('redirects to an invalid address')
  const next = new URL(location, url)
  if (url.protocol === 'https:' && next.protocol !== 'https:') {
    throw refusal('redirects to an address without encryption')
  }
  return { ...call, url: next, headers: next.origin === url.origin ? call.headers : plain(call) }
}

const CREDENTIALS: ReadonlySet<string> = new Set(['authorization', 'cookie', 'private-token'])

function plain({ headers }: Call): Readonly<Record<string, string>> {
  const kept = Object.entries(headers).filter(([name]) => !CREDENTIALS.has(name.toLowerCase()))
  return Object.fromEntries(kept)
}

function refusal(what: string): Failure {
  return new Failure('invalid', `The address ${what}.`)
}

/** Converts a connection error to the failure for the user. */
type Problem = (cause: unknown) => Failure

async function callOnce<T>(call: Call, problem: Problem, use: Use<T>): Promise<T> {
  const { url } = call
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw refusal('is not an HTTP URL')
  if (url.username !== '' || url.password !== '') throw refusal('contains credentials')
  const { request, response } = await answerOf(call).catch((error: unknown) =>
    Promise.reject(problem(error)),
  )
  try {
    return await use({ ...headOf(response), url }, bytesOf(response, problem))
  } finally {
    request.destroy()
  }
}

async function* bytesOf(response: IncomingMessage, problem: Problem): AsyncGenerator<Buffer> {
  try {
    yield* response as AsyncIterable<Buffer>
  } catch (error) {
    throw problem(error)
  }
}

interface Answered {
  readonly request: ClientRequest
  readonly response: IncomingMessage
}

/** Tries the addresses until one accepts a connection. A request that was sent is not repeated. */
async function answerOf(call: Call): Promise<Answered> {
  const { url, signal } = call
  const addresses = await abortable(resolveOutbound(url.hostname, call), signal)
  let failed: unknown
  for (const address of addresses) {
    const state = { isConnected: false }
    try {
      return await callAddress(call, address, state)
    } catch (error) {
      failed = error
      if (state.isConnected || signal.aborted) break
    }
  }
  throw failed
}

/** Rejects when the signal aborts, because a DNS query itself cannot be cancelled. */
async function abortable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return await new Promise<T>((resolve, reject) => {
    const end = () => reject(signal.reason)
    if (signal.aborted) end()
    signal.addEventListener('abort', end, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', end))
  })
}

function callAddress(
  call: Call,
  address: string,
  state: { isConnected: boolean },
): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const { url, body = new Uint8Array(), idleMs = 0 } = call
    const request = open(call, address)
    request.on('socket', (socket) => {
      socket.once(url.protocol === 'https:' ? 'secureConnect' : 'connect', () => {
        state.isConnected = true
      })
    })
    request.setTimeout(idleMs, () => request.destroy(new Error(`no data for ${idleMs} ms`)))
    request.on('error', reject)
    request.on('response', (response) => resolve({ request, response }))
    request.end(body)
  })
}

/** Opens a connection to the checked address, so that the name is not resolved a second time. */
function open(call: Call, address: string): ClientRequest {
  const { url, method, signal, authorities, acceptsAnyCertificate = false } = call
  const isTls = url.protocol === 'https:'
  const name = url.hostname.replace(/\.$/, '')
  const isName = isIP(name.replace(/^\[|\]$/g, '')) === 0
  const options = {
    host: address,
    method,
    signal,
    agent: false as const,
    port: url.port === '' ? (isTls ? 443 : 80) : Number(url.port),
    path: url.pathname + url.search,
    headers: { Host: url.host, ...call.headers, ...lengthOf(call) },
  }
  if (!isTls) return httpRequest(options)
  return httpsRequest({
    ...options,
    rejectUnauthorized: !acceptsAnyCertificate,
    ...(isName ? { servername: name } : {}),
    ...(authorities === undefined ? {} : { ca: [...authorities] }),
  })
}

function isWrite({ method }: Pick<Call, 'method'>): boolean {
  return method === 'POST' || method === 'PUT'
}

function lengthOf({ method, body }: Call): Readonly<Record<string, string>> {
  return isWrite({ method }) ? { 'Content-Length': String(body?.byteLength ?? 0) } : {}
}

async function readAnswer(
  body: AsyncIterable<Buffer>,
  bytesMax: number,
): Promise<Pick<OutboundAnswer, 'body' | 'isWhole'>> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of body) {
    chunks.push(chunk.subarray(0, bytesMax - bytes))
    bytes += chunk.length
    if (bytes > bytesMax) return { body: Buffer.concat(chunks), isWhole: false }
  }
  return { body: Buffer.concat(chunks), isWhole: true }
}

function headOf({ statusCode, headers }: IncomingMessage) {
  const all = Object.entries(headers).map(([name, value = '']) => [name, String(value)])
  return { status: statusCode ?? 0, headers: Object.fromEntries(all) as Record<string, string> }
}
