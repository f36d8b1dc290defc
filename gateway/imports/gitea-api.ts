/** Client of another Gitea's REST API, which validates every answer. */

import { setTimeout as sleep } from 'node:timers/promises'
import { type Static, type TSchema, Type } from 'typebox'
import { Compile, type Validator } from 'typebox/schema'
import { RemoteError } from '../../cgi/transfer/remote.js'
import { Failure, isFailure } from '../../conf/failures.js'
import type { HostSet } from '../../conf/host-set.js'
import { parseJsonText } from '../../conf/lib/json-values.js'
import { callOutbound, type OutboundHead, streamOutbound } from '../outbound/client.js'

/** Number of entries that are requested for each page: the default maximum of Gitea. */
const PAGE_ENTRIES = 50

export interface GiteaSource {
  /** Clone address of the repository. */
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
  /** Maximum number of entries of all lists together. */
  readonly itemsMax: number
}

export interface GiteaApi {
  /** Returns the answer for a path below that of the repository. All methods throw RemoteError. */
  get<T extends TSchema>(path: string, schema: T): Promise<Static<T>>
  /** Yields the pages of a list. An entry that a changing list repeats is yielded once. */
  pages<T extends EntrySchema>(path: string, schema: T): AsyncGenerator<ReadonlyArray<Static<T>>>
  /** Streams a file at any public address to `use`, and returns its result. */
  download<T>(address: string, use: (body: AsyncIterable<Buffer>) => Promise<T>): Promise<T>
}

type EntrySchema = TSchema & { readonly static?: { readonly id: number } }

/** Limit of one page: even if quoting doubles it, it fits into a statement of MariaDB. */
const PAGE_BYTES_MAX = 6_291_456
const REDIRECTS_MAX = 3

/** Creates a client for the repository at an address. Throws `invalid` if that is not of Gitea. */
export function openGiteaApi(source: GiteaSource): GiteaApi {
  const base = apiAddressOf(source.url)
  let items = 0
  const count = (more: number) => {
    items += more
    if (items <= source.itemsMax) return
    throw new RemoteError('failed', `the source has more than ${source.itemsMax} items`)
  }
  const request = (path: string) => requestWithRetries(source, new URL(`${base}${path}`))
  return {
    get: async (path, schema) => checked(path, schema, await request(path)),
    async *pages(path, schema) {
      const seen = new Set<number>()
      for (let page = 1; ; page += 1) {
        const sign = path.includes('?') ? '&' : '?'
        const answer = await request(`${path}${sign}page=${page}&limit=${PAGE_ENTRIES}`)
        const entries = checked(path, listOf(schema), answer) as ReadonlyArray<{
          readonly id: number
        }>
        const fresh = entries.filter(({ id }) => !seen.has(id) && seen.add(id))
        // The source may send shorter pages than requested, so only an empty page is the end.
        if (fresh.length === 0) return
        count(fresh.length)
        yield fresh as never
      }
    },
    download: (address, use) => download(source, address, use),
  }
}

/** Maximum number of entries of one answer: a server without paging sends the whole list. */
const PAGE_ITEMS_MAX = 10_000

/** Converts `https://host/sub/owner/name.git` to `https://host/sub/api/v1/repos/owner/name`. */
function apiAddressOf(url: URL): string {
  const segments = url.pathname.split('/').filter((segment) => segment !== '')
  const [owner, name] = segments.splice(-2)
  if (owner === undefined || name === undefined) {
    throw new Failure('invalid', 'The clone address names no owner and no repository.')
  }
  const above = [url.origin, ...segments].join('/')
  return `${above}/api/v1/repos/${owner}/${name.replace(/\.git$/, '')}`
}

const ATTEMPTS_MAX = 5
const RETRY_AFTER_SECONDS_MAX = 60

/** Requests a page, and again after the header Retry-After of 429 and 503, if that is short. */
async function requestWithRetries(source: GiteaSource, url: URL): Promise<unknown> {
  for (let attempt = 1; ; attempt += 1) {
    const { status, headers, body, isWhole } = await outbound(source, () =>
      callOutbound({
        ...boundsOf(source),
        url,
        answerBytesMax: PAGE_BYTES_MAX,
        timeoutMs: source.idleMs,
        headers: headersFor(source, url),
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

function boundsOf({ allowPrivate, idleMs, signal }: GiteaSource) {
  return { allowPrivate, idleMs, signal }
}

function headersFor({ url: { origin }, authorization }: GiteaSource, url: URL) {
  const isSame = url.origin === origin && authorization !== undefined
  return { 'User-Agent': 'Gatehouse', ...(isSame ? { Authorization: authorization } : {}) }
}

/** Converts connection errors to RemoteError, unless the signal has aborted the call. */
async function outbound<T>({ signal }: GiteaSource, work: () => Promise<T>): Promise<T> {
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
const LISTS = new WeakMap<TSchema, TSchema>()

/** Returns the schema of a page of entries; the same object each time, so it is compiled once. */
function listOf(entry: TSchema): TSchema {
  const list = LISTS.get(entry) ?? Type.Array(entry, { maxItems: PAGE_ITEMS_MAX })
  LISTS.set(entry, list)
  return list
}

/** Returns the value if it matches the schema. Throws RemoteError otherwise. */
function checked<T extends TSchema>(path: string, schema: T, value: unknown): Static<T> {
  const validator = VALIDATORS.get(schema) ?? Compile(schema)
  VALIDATORS.set(schema, validator)
  if (validator.Check(value)) return value as Static<T>
  const [, [error]] = validator.Errors(value)
  const where = `${path.split('?')[0]}${error?.instancePath ?? ''}`.slice(0, WHERE_CHARACTERS_MAX)
  throw new RemoteError('failed', `the source sent an invalid answer: ${where} ${error?.message}`)
}

const WHERE_CHARACTERS_MAX = 100

async function download<T>(
  source: GiteaSource,
  address: string,
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
    headers: headersFor(source, url),
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
