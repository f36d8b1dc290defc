/** What git answers to the first request of protocol v2, remembered: it names no reference. */

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readStateOfTick } from '../../cgi/repository/repository-state.js'
import type { Awaitable } from '../../conf/awaitable.js'
import type { Reply } from '../../conf/http.js'
import { readBody } from '../incoming-body.js'

interface CachedAdvertisement {
  readonly reply: Reply
  readonly expiresAtMs: number
}

/** Nearly all repositories are configured alike, so few entries serve them all. */
const ENTRIES_MAX = 100

/** An upgrade of git shows after a minute at the latest. */
const LIFETIME_MS = 60_000

const ADVERTISEMENT_BYTES_MAX = 65_536

/** gitprotocol-v2(5): the one value that every client since git 2.26 sends. */
const PROTOCOL_V2 = 'version=2'

/** gitprotocol-common(5): the packet that ends the list. */
const FLUSH = '0000'

const cachedAdvertisements = new Map<string, CachedAdvertisement>()

export interface AdvertisementRequest {
  /** Absolute path of the bare repository. */
  readonly repositoryPath: string
  /** `Git-Protocol` as sent. */
  readonly gitProtocol: string | undefined
  /** Lets git answer. */
  readonly ask: () => Awaitable<Reply>
}

/**
 * The capabilities of `git-upload-pack` (gitprotocol-v2(5) "Capability Advertisement"). They are a
 * function of git itself, of our configuration and of the repository's own, whose text is the key;
 * so a repository whose configuration leads elsewhere, or cannot be read, is asked about each time.
 */
export function advertiseFetch(request: AdvertisementRequest): Awaitable<Reply> {
  const { repositoryPath, gitProtocol, ask } = request
  if (gitProtocol !== PROTOCOL_V2) return ask()
  const text = readStateOfTick(repositoryPath)?.settingsText
  const known = text === undefined ? undefined : cachedAdvertisements.get(text)
  if (known !== undefined && known.expiresAtMs > Date.now()) return known.reply
  return askAndStore(request)
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
 * The repository's configuration; undefined where it is not all in its own files. A repository with
 * too many references to have a state is read each time.
 */
async function readSettings(repositoryPath: string): Promise<string | undefined> {
  const read = () => readFile(join(repositoryPath, 'config'), 'utf8').catch(() => undefined)
  const text = readStateOfTick(repositoryPath)?.settingsText ?? (await read())
  return text === undefined || /\[\s*include|worktreeconfig/i.test(text) ? undefined : text
}

function isStream(body: Reply['body']): body is AsyncIterable<Uint8Array> {
  return typeof body === 'object' && Symbol.asyncIterator in body
}
