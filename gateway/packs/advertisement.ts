/** A cache of git's capability advertisements for protocol v2, which do not depend on refs. */

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readStateOfTick } from '../../cgi/repository/repository-state.js'
import type { Reply } from '../../conf/http.js'
import type { Awaitable } from '../../conf/lib/awaitable.js'
import { readBody } from '../http/incoming-body.js'

interface CachedAdvertisement {
  readonly reply: Reply
  readonly expiresAtMs: number
}

/** Maximum cached advertisements; repositories with the same configuration share one. */
const ENTRIES_MAX = 100

/** Maximum age of a cached advertisement, so that an upgrade of git takes effect. */
const LIFETIME_MS = 60_000

const ADVERTISEMENT_BYTES_MAX = 65_536

/** `Git-Protocol` value that every client since git 2.26 sends by default (gitprotocol-v2(5)). */
const PROTOCOL_V2 = 'version=2'

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
 * Returns the capabilities of `git-upload-pack` (gitprotocol-v2(5) "Capability Advertisement").
 * They depend on git itself, on our configuration and on the repository's own configuration, whose
 * text is the cache key. Git is run each time if the client speaks another protocol version, or if
 * the repository's configuration includes other files or cannot be read.
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
