/** The one HTTP client for addresses that users name: checked, pinned, bounded. */

import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { isIP } from 'node:net'
import { Failure } from '../../conf/failures.js'
import { type OutboundOptions, resolveOutbound } from './address.js'

export interface OutboundRequest extends OutboundOptions {
  readonly url: URL
  readonly method?: 'GET' | 'HEAD' | 'POST'
  /** Names are sent as they are written here. `Host` and the length are the client's own. */
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Uint8Array | undefined
  /** For all of it, redirects included. */
  readonly timeoutMs: number
  /** More of the answer is not read. */
  readonly answerBytesMax: number
  /** Redirects that are followed, by GET and HEAD alone; none by default. Each is checked anew. */
  readonly redirectsMax?: number
  readonly signal?: AbortSignal | undefined
  /** Authorities to trust besides those of the system, in PEM. */
  readonly authorities?: readonly string[]
}

export interface OutboundAnswer {
  readonly status: number
  /** As they came, names in lower case; those that came twice are joined by Node's rules. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
  /** False: there was more than was to be read. */
  readonly isWhole: boolean
  /** Where the answer came from, after redirects. */
  readonly url: URL
}

/** What one connection is made for. */
interface Call extends OutboundRequest {
  readonly method: 'GET' | 'HEAD' | 'POST'
  readonly headers: Readonly<Record<string, string>>
  readonly signal: AbortSignal
}

/**
 * Asks, and gives the answer whatever its status. Throws `invalid` for an address that may not be
 * called and `bad_gateway` when no answer came. No proxy of the environment is used.
 */
export async function callOutbound(wanted: OutboundRequest): Promise<OutboundAnswer> {
  const { method = 'GET', headers = {}, redirectsMax = 0, timeoutMs } = wanted
  const deadline = AbortSignal.timeout(timeoutMs)
  const signal = wanted.signal === undefined ? deadline : AbortSignal.any([deadline, wanted.signal])
  let call: Call = { ...wanted, method, headers, signal }
  try {
    for (let redirects = 0; ; redirects += 1) {
      const answer = await callOnce(call)
      const next = redirects < redirectsMax ? redirectOf(call, answer) : undefined
      if (next === undefined) return answer
      call = next
    }
  } catch (error) {
    if (error instanceof Failure) throw error
    const reason = deadline.aborted ? `no answer within ${timeoutMs} ms` : reasonOf(error)
    const message = `${call.url.host} could not be called: ${reason}`
    throw new Failure('bad_gateway', message, { cause: error })
  }
}

function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException
  return code === undefined ? String(message) : code
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

/** Credentials are for the host that they were given for (threat: a redirect to one's own host). */
function redirectOf(call: Call, { status, headers, url }: OutboundAnswer): Call | undefined {
  const { location } = headers
  if (!REDIRECTS.has(status) || location === undefined || call.method === 'POST') return undefined
  if (!URL.canParse(location, url.href)) throw refusal('is redirected to an address that is none')
  const next = new URL(location, url)
  if (url.protocol === 'https:' && next.protocol !== 'https:') {
    throw refusal('is redirected to an address without encryption')
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

/** Each address in turn until one takes the connection; what was sent is not sent again. */
async function callOnce(call: Call): Promise<OutboundAnswer> {
  const { url, signal } = call
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw refusal('is not one of HTTP')
  if (url.username !== '' || url.password !== '') throw refusal('has credentials in it')
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

/** A look-up cannot be ended, but nobody has to wait for it. */
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
): Promise<OutboundAnswer> {
  return new Promise((resolve, reject) => {
    const { answerBytesMax, url, body = new Uint8Array() } = call
    const request = open(call, address)
    request.on('socket', (socket) => {
      socket.once(url.protocol === 'https:' ? 'secureConnect' : 'connect', () => {
        state.isConnected = true
      })
    })
    request.on('error', reject)
    request.on('response', (response) => {
      readAnswer(response, answerBytesMax)
        .then((read) => resolve({ ...headOf(response), ...read, url }))
        .catch(reject)
        .finally(() => request.destroy())
    })
    request.end(body)
  })
}

/** The address is the host to connect to: no name is looked up a second time. */
function open(call: Call, address: string): ClientRequest {
  const { url, method, signal, authorities } = call
  const isTls = url.protocol === 'https:'
  const name = url.hostname.replace(/\.$/, '')
  const isName = isIP(name.replace(/^\[|\]$/g, '')) === 0
  const options = {
    ...{ host: address, method, signal, agent: false as const },
    port: url.port === '' ? (isTls ? 443 : 80) : Number(url.port),
    path: url.pathname + url.search,
    headers: { Host: url.host, ...call.headers, ...lengthOf(call) },
  }
  if (!isTls) return httpRequest(options)
  return httpsRequest({
    ...options,
    ...(isName ? { servername: name } : {}),
    ...(authorities === undefined ? {} : { ca: [...authorities] }),
  })
}

function lengthOf({ method, body }: Call): Readonly<Record<string, string>> {
  return method === 'POST' ? { 'Content-Length': String(body?.byteLength ?? 0) } : {}
}

async function readAnswer(
  response: IncomingMessage,
  bytesMax: number,
): Promise<Pick<OutboundAnswer, 'body' | 'isWhole'>> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
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
