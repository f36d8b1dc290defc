/** Caches of git's advertisements: the capabilities of protocol v2, and the refs of v0 and v1. */

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { LRUCache } from 'lru-cache'
import { readPresentState, readStateOfTick } from '../../cgi/repository/repository-state.js'
import { protocolVersionOf } from '../../cgi/transfer/environment.js'
import type { Reply } from '../../conf/http.js'
import type { Awaitable } from '../../conf/lib/awaitable.js'
import { readBody } from '../http/incoming-body.js'
import { joined, readAhead } from './read-ahead.js'

interface CachedAdvertisement {
  readonly reply: Reply
  readonly expiresAtMs: number
}

/** Maximum cached advertisements; repositories with the same configuration share one. */
const ENTRIES_MAX = 100

/** Maximum age of a cached advertisement, so that an upgrade of git takes effect. */
const LIFETIME_MS = 60_000

const ADVERTISEMENT_BYTES_MAX = 65_536

/** Flush packet, which ends an advertisement (gitprotocol-common(5)). */
const FLUSH = '0000'

const cachedAdvertisements = new Map<string, CachedAdvertisement>()

export interface AdvertisementRequest {
  /** Absolute path of the bare repository. */
  readonly repositoryPath: string
  /** `Git-Protocol` as sent. */
  readonly gitProtocol: string | undefined
  /** Runs git to produce the advertisement. */
  readonly ask: () => Awaitable<Reply>
}

/**
 * Returns git's advertisement for `git-upload-pack`. In protocol v2 (gitprotocol-v2(5) "Capability
 * Advertisement") it depends on git itself, on our configuration and on the repository's own
 * configuration, whose text is the cache key. In v0 and v1 it also depends on the refs. Git is run
 * each time if the repository's configuration includes other files or cannot be read.
 */
export function advertiseFetch(request: AdvertisementRequest): Awaitable<Reply> {
  const { repositoryPath, gitProtocol } = request
  if (protocolVersionOf(gitProtocol) === 0) return advertiseRefs(request)
  const text = readStateOfTick(repositoryPath)?.settingsText
  const known = text === undefined ? undefined : cachedAdvertisements.get(text)
  if (known !== undefined && known.expiresAtMs > Date.now()) return known.reply
  return askAndStore(request)
}

/** Maximum bytes of one advertisement with refs, and of all of them in this process. */
const REFS_BYTES_MAX = 8_388_608
const ALL_REFS_BYTES_MAX = 33_554_432

interface AdvertisedRefs {
  readonly reply: Reply
  readonly stateText: string
}

/** Advertisements with refs, by protocol version and repository. */
const advertisedRefs = new LRUCache<string, AdvertisedRefs>({
  maxSize: ALL_REFS_BYTES_MAX,
  sizeCalculation: ({ reply }, key) => key.length + bytesOf(reply).byteLength,
  ttl: LIFETIME_MS,
})

/** Requests to git in this process, by protocol version, repository and state. */
const refsInFlight = new Map<string, Promise<Reply | undefined>>()

/** Returns the refs of a settled state from the cache, or from one run of git for all clients. */
function advertiseRefs(request: AdvertisementRequest): Awaitable<Reply> {
  const { repositoryPath, gitProtocol = '', ask } = request
  const state = readStateOfTick(repositoryPath)
  if (state?.isSettled !== true) return ask()
  const key = `${gitProtocol}\n${repositoryPath}`
  const known = advertisedRefs.get(key)
  if (known?.stateText === state.text) return known.reply
  return askForRefs(request, { key, stateText: state.text })
}

async function askForRefs(
  { repositoryPath, ask }: AdvertisementRequest,
  { key, stateText }: { readonly key: string; readonly stateText: string },
): Promise<Reply> {
  const flight = `${key}\n${stateText}`
  const inFlight = refsInFlight.get(flight)
  const shared = inFlight === undefined ? undefined : await inFlight
  if (shared !== undefined) return shared
  const asked = Promise.resolve(ask()).then(readIfShort)
  // If git fails or the reply is long, each client gets its own.
  const sharing = asked.then(
    (reply) => (isStream(reply.body) ? undefined : reply),
    () => undefined,
  )
  refsInFlight.set(flight, sharing)
  void sharing.finally(() => refsInFlight.delete(flight))
  const reply = await asked
  const isComplete = bytesOf(reply).subarray(-FLUSH.length).toString() === FLUSH
  if (isComplete && readPresentState(repositoryPath)?.text === stateText) {
    advertisedRefs.set(key, { reply, stateText })
  }
  return reply
}

/** Returns a reply whose body is in memory, if it is a short reply of git. */
async function readIfShort(reply: Reply): Promise<Reply> {
  if (reply.status !== 200 || !isStream(reply.body)) return reply
  const { beginning, rest } = await readAhead(reply.body, REFS_BYTES_MAX)
  const headers = Object.freeze(reply.headers ?? [])
  const body = rest === undefined ? beginning : joined(beginning, rest)
  return { ...reply, headers, body }
}

/** Returns the body of a reply; empty if it is a stream. */
function bytesOf({ body }: Reply): Buffer {
  return body instanceof Uint8Array
    ? Buffer.from(body.buffer, body.byteOffset, body.byteLength)
    : Buffer.alloc(0)
}

async function askAndStore({ repositoryPath, ask }: AdvertisementRequest): Promise<Reply> {
  const config = await readSettings(repositoryPath)
  const reply = await ask()
  if (config === undefined) return reply
  if (reply.status !== 200 || !isStream(reply.body)) return reply
  const body = await readBody(reply.body, ADVERTISEMENT_BYTES_MAX)
  const headers = Object.freeze(reply.headers ?? [])
  const whole: Reply = { ...reply, headers, body }
  const isComplete = body.subarray(-FLUSH.length).toString() === FLUSH
  if (isComplete && config === (await readSettings(repositoryPath))) store(config, whole)
  return whole
}

function store(config: string, reply: Reply): void {
  cachedAdvertisements.delete(config)
  cachedAdvertisements.set(config, { reply, expiresAtMs: Date.now() + LIFETIME_MS })
  const [oldest] = cachedAdvertisements.keys()
  if (cachedAdvertisements.size > ENTRIES_MAX && oldest !== undefined)
    cachedAdvertisements.delete(oldest)
}

/**
 * Returns the text of the repository's settings files, or of `config` alone if the repository has
 * no state (for example because it has too many folders of refs). Returns undefined if the text
 * cannot be read or refers to other files.
 */
async function readSettings(repositoryPath: string): Promise<string | undefined> {
  const read = () => readFile(join(repositoryPath, 'config'), 'utf8').catch(() => undefined)
  const text = readStateOfTick(repositoryPath)?.settingsText ?? (await read())
  return text === undefined || /\[\s*include|worktreeconfig/i.test(text) ? undefined : text
}

function isStream(body: Reply['body']): body is AsyncIterable<Uint8Array> {
  return typeof body === 'object' && Symbol.asyncIterator in body
}
