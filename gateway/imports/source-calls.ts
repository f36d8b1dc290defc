/** Calls to the source of an import: with limits, retries and validation of the answers. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Static, TSchema } from 'typebox'
import { Compile, type Validator } from 'typebox/schema'
import { RemoteError } from '../../cgi/transfer/remote.js'
import { isFailure } from '../../conf/failures.js'
import type { HostSet } from '../../conf/host-set.js'
import { parseJsonText } from '../../conf/lib/json-values.js'
import {
  callOutbound,
  type OutboundHead,
  type OutboundRequest,
  streamOutbound,
} from '../outbound/client.js'

/** Source of an import, and the limits of calls to it. */
export interface Source {
  readonly url: URL
  /** Value of the header Authorization; it is sent only to the origin of `url`. */
  readonly authorization: string | undefined
  /** Aborts all requests; with a RemoteError as the reason if the import took too long. */
  readonly signal: AbortSignal
  readonly allowPrivate: HostSet
  /** Maximum time without data from the source, and for one page. */
  readonly idleMs: number
  /** Maximum time for one file. */
  readonly timeoutMs: number
}

/** Limit of one page: even if quoting doubles it, it fits into a statement of MariaDB. */
const PAGE_BYTES_MAX = 6_291_456
const REDIRECTS_MAX = 3
const AGENT = { 'User-Agent': 'Gatehouse' }

const ATTEMPTS_MAX = 5
const RETRY_AFTER_SECONDS_MAX = 60

/** Further parts of a request; by default it is a GET. */
export type Question = Pick<OutboundRequest, 'method' | 'headers' | 'body'>

/** Requests a page of JSON, and again after the Retry-After of 429 and 503, if that is short. */
export async function requestJson(
  source: Source,
  url: URL,
  { headers: own = {}, ...question }: Question = {},
): Promise<unknown> {
  for (let attempt = 1; ; attempt += 1) {
    const { status, headers, body, isWhole } = await outbound(source, () =>
      callOutbound({
        ...boundsOf(source),
        ...question,
        url,
        answerBytesMax: PAGE_BYTES_MAX,
        timeoutMs: source.idleMs,
        headers: { ...headersFor(source, url), ...own },
      }),
    )
    if (status !== 429 && status !== 503) {
      refuseStatus(status, url)
      if (isWhole) return parse(body, url)
      throw new RemoteError('failed', `a page of the source is too large: ${url.pathname}`)
    }
    const seconds = Number(/^\d{1,6}$/.exec(headers['retry-after'] ?? '')?.[0])
    if (attempt === ATTEMPTS_MAX || !(seconds <= RETRY_AFTER_SECONDS_MAX)) {
      throw new RemoteError('rate-limit', `the source answers ${status}`)
    }
    await outbound(source, () => sleep(seconds * 1_000, undefined, { signal: source.signal }))
  }
}

function boundsOf({ allowPrivate, idleMs, signal }: Source) {
  return { allowPrivate, idleMs, signal }
}

function headersFor({ url: { origin }, authorization }: Source, url: URL) {
  const isSame = url.origin === origin && authorization !== undefined
  return { ...AGENT, ...(isSame ? { Authorization: authorization } : {}) }
}

/** Converts connection errors to RemoteError, unless the signal has aborted the call. */
async function outbound<T>({ signal }: Source, work: () => Promise<T>): Promise<T> {
  try {
    signal.throwIfAborted()
    return await work()
  } catch (error) {
    signal.throwIfAborted()
    if (!isFailure(error, 'bad_gateway')) throw error
    throw new RemoteError('failed', error.message)
  }
}

function refuseStatus(status: number, { pathname }: URL): void {
  if (status === 200) return
  if (status === 401 || status === 403) {
    throw new RemoteError('authentication', `the source answers ${status} for ${pathname}`)
  }
  if (status >= 300 && status < 400) {
    throw new RemoteError('failed', `the source redirects, which is not followed: ${pathname}`)
  }
  throw new RemoteError('failed', `the source answers ${status} for ${pathname}`)
}

function parse(body: Buffer, { pathname }: URL): unknown {
  try {
    return parseJsonText(body.toString('utf8'))
  } catch {
    throw new RemoteError('failed', `the source sent an answer that is not JSON: ${pathname}`)
  }
}

const VALIDATORS = new WeakMap<TSchema, Validator>()

/** Returns the value if it matches the schema. Throws RemoteError otherwise. */
export function checked<T extends TSchema>(path: string, schema: T, value: unknown): Static<T> {
  const validator = VALIDATORS.get(schema) ?? Compile(schema)
  VALIDATORS.set(schema, validator)
  if (validator.Check(value)) return value as Static<T>
  const [, [error]] = validator.Errors(value)
  const where = `${path.split('?')[0]}${error?.instancePath ?? ''}`.slice(0, WHERE_CHARACTERS_MAX)
  throw new RemoteError('failed', `the source sent an invalid answer: ${where} ${error?.message}`)
}

const WHERE_CHARACTERS_MAX = 100

/** File at any public address. */
export interface SourceFile {
  readonly address: string
  /** Headers of the request in place of the credentials; absent to send those to their origin. */
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/** Streams a file to `use`, and returns its result. Throws RemoteError. */
export async function downloadFile<T>(
  source: Source,
  { address, headers }: SourceFile,
  use: (body: AsyncIterable<Buffer>) => Promise<T>,
): Promise<T> {
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (url === undefined || (source.url.protocol === 'https:' && url.protocol !== 'https:')) {
    throw new RemoteError('failed', 'the source names a file by an invalid or unencrypted address')
  }
  const wanted = {
    ...boundsOf(source),
    url,
    timeoutMs: source.timeoutMs,
    redirectsMax: REDIRECTS_MAX,
    headers: headers === undefined ? headersFor(source, url) : { ...AGENT, ...headers },
  }
  return await outbound(source, () =>
    streamOutbound(wanted, async (head, body) => {
      refuseFile(head)
      return await use(body)
    }),
  )
}

/** Throws RemoteError unless the file is sent uncompressed: it is stored as it arrives. */
function refuseFile({ status, headers, url }: OutboundHead): void {
  const { 'content-encoding': encoding = 'identity' } = headers
  if (status === 200 && encoding === 'identity') return
  const reason = status === 200 ? `encoding ${encoding}` : `status ${status}`
  const message = `a file of the source cannot be downloaded: ${reason} for ${url.pathname}`
  throw new RemoteError('failed', message)
}

/** Runs the work; aborts it with a RemoteError if it takes too long. */
export async function withDeadline<T>(
  late: AbortController,
  timeoutMs: number,
  work: () => Promise<T>,
): Promise<T> {
  const slow = new RemoteError('failed', 'the source took too long')
  const timer = setTimeout(() => late.abort(slow), timeoutMs)
  try {
    return await work()
  } finally {
    clearTimeout(timer)
  }
}
