/** Caches of git's advertisements: the capabilities of protocol v2, and the refs of v0 and v1. */

import { LRUCache } from 'lru-cache'
import { type GitPrograms, gitIdentity, watchIdentity } from '../../cgi/process/git-identity.js'
import {
  hasGrafts,
  type RepositoryState,
  readPresentState,
  readStateOfTick,
} from '../../cgi/repository/repository-state.js'
import { protocolVersionOf } from '../../cgi/transfer/environment.js'
import type { Reply } from '../../conf/http.js'
import { type Awaitable, after } from '../../conf/lib/awaitable.js'
import { readBody } from '../http/incoming-body.js'
import {
  type AdvertisedParts,
  advertisedBody,
  advertisedParts,
  beginningOf,
} from './advertised-refs.js'
import type { Seen } from './answer-names.js'
import { FORM_V0 } from './line-forms.js'
import type { ObjectFormat } from './normal-fetch.js'
import { joined, readAhead } from './read-ahead.js'
import { UNBORN } from './reference-lines.js'

/** Maximum cached advertisements; repositories with the same configuration share one. */
const ENTRIES_MAX = 100

const ADVERTISEMENT_BYTES_MAX = 65_536

/** Flush packet, which ends an advertisement (gitprotocol-common(5)). */
const FLUSH = '0000'

const cachedAdvertisements = new LRUCache<string, Reply>({ max: ENTRIES_MAX })

export interface AdvertisementRequest {
  readonly git: GitPrograms
  /** Absolute path of the bare repository. */
  readonly repositoryPath: string
  /** `Git-Protocol` as sent. */
  readonly gitProtocol: string | undefined
  /** Runs git to produce the advertisement. */
  readonly ask: () => Awaitable<Reply>
  /** Returns the refs of a state that was just read; see `presentReferences`. */
  readonly references: (
    objectFormat: ObjectFormat,
    state: RepositoryState,
  ) => Awaitable<Seen | undefined>
}

/**
 * Returns git's advertisement for `git-upload-pack`. In protocol v2 (gitprotocol-v2(5) "Capability
 * Advertisement") it depends on git itself, on our configuration and on the repository's own
 * configuration, whose text is the cache key. In v0 and v1 it also depends on the refs. Git is run
 * each time if the repository has no state, for example because its configuration includes files.
 * An upgrade of git takes effect within a minute.
 */
export function advertiseFetch(request: AdvertisementRequest): Awaitable<Reply> {
  const { git, repositoryPath, gitProtocol } = request
  forgetFormerGit(git)
  if (protocolVersionOf(gitProtocol) === 0) return advertiseRefs(request)
  const text = readStateOfTick(repositoryPath)?.settingsText
  const known = text === undefined ? undefined : cachedAdvertisements.get(text)
  return known ?? askAndStore(request, text)
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
})

/** Requests to git in this process, by protocol version, repository and state. */
const refsInFlight = new Map<string, Promise<Reply | undefined>>()

/** Parts of git's answers by protocol version and settings; see `learn`. */
const learnedParts = new LRUCache<string, LearnedParts>({ max: ENTRIES_MAX })

const forgetFormerGit = watchIdentity(() => {
  for (const cache of [cachedAdvertisements, advertisedRefs, learnedParts]) cache.clear()
})

interface LearnedParts extends AdvertisedParts {
  /** Reply without its body. */
  readonly reply: Reply
}

/**
 * Returns the refs from the cache, or from the list of refs, which follows pushes. If the
 * capabilities or the list are unknown, one run of git answers all clients.
 */
function advertiseRefs(request: AdvertisementRequest): Awaitable<Reply> {
  const { repositoryPath, gitProtocol = '', ask, references } = request
  const state = readStateOfTick(repositoryPath)
  if (state === undefined) return ask()
  const key = `${gitProtocol}\n${repositoryPath}`
  const known = state.isSettled ? advertisedRefs.get(key) : undefined
  if (known?.stateText === state.text) return known.reply
  const learned = learnedParts.get(learnedKey(gitProtocol, state))
  const listed =
    learned && after(references(learned.objectFormat, state), (seen) => replyOf(learned, seen))
  return after(listed, (reply) => {
    if (reply !== undefined) return reply
    return state.isSettled ? askForRefs(request, { key, state }) : ask()
  })
}

function learnedKey(gitProtocol: string, { settingsText }: RepositoryState): string {
  return `${gitProtocol}\n${settingsText}`
}

const SYMBOLIC_HEAD = / symref=HEAD:[^ ]+/

/** Returns the reply with the present refs; undefined if git must answer. */
function replyOf({ reply, ...parts }: LearnedParts, seen: Seen | undefined): Reply | undefined {
  const head = seen?.references.targetOf('HEAD')
  if (seen === undefined || head === undefined || head.oid === UNBORN) return undefined
  const { target } = head
  const symbolic = target === undefined ? '' : ` symref=HEAD:${target}`
  const capabilities = parts.capabilities.replace(SYMBOLIC_HEAD, () => symbolic)
  const body = advertisedBody({ ...parts, capabilities }, seen.references.packets([], FORM_V0))
  return { ...reply, body }
}

/** Keeps the parts of git's answer that do not depend on the refs, if the answer shows all. */
function learn(
  { repositoryPath, gitProtocol = '' }: AdvertisementRequest,
  state: RepositoryState,
  { reply, text }: { readonly reply: Reply; readonly text: string },
): void {
  // The answer ends with the shallow commits, which the list of refs does not have.
  if (reply.status !== 200 || hasGrafts(repositoryPath)) return
  const version = gitProtocol === '' ? 0 : 1
  const parts = advertisedParts(text, beginningOf('git-upload-pack', version))
  if (parts === undefined || !SYMBOLIC_HEAD.test(parts.capabilities)) return
  const { body: _, ...rest } = reply
  learnedParts.set(learnedKey(gitProtocol, state), { ...parts, reply: rest })
}

async function askForRefs(
  request: AdvertisementRequest,
  { key, state }: { readonly key: string; readonly state: RepositoryState },
): Promise<Reply> {
  const { git, repositoryPath, ask } = request
  const identity = gitIdentity(git)
  const flight = `${key}\n${state.text}`
  const inFlight = refsInFlight.get(flight)
  const shared = inFlight === undefined ? undefined : await inFlight
  if (shared !== undefined) return shared
  const asked = Promise.resolve(ask()).then((reply) =>
    readIfShort(reply, (text) => {
      if (gitIdentity(git) === identity) learn(request, state, { reply, text })
    }),
  )
  // If git fails or the reply is long, each client gets its own.
  const sharing = asked.then(
    (reply) => (isStream(reply.body) ? undefined : reply),
    () => undefined,
  )
  refsInFlight.set(flight, sharing)
  void sharing.finally(() => refsInFlight.delete(flight))
  const reply = await asked
  const isComplete = bytesOf(reply).subarray(-FLUSH.length).toString() === FLUSH
  const isSame = readPresentState(repositoryPath)?.text === state.text
  if (isComplete && isSame && gitIdentity(git) === identity) {
    advertisedRefs.set(key, { reply, stateText: state.text })
  }
  return reply
}

/** Length of the beginning of a reply that has the capabilities. */
const BEGINNING_BYTES = 8_192

/**
 * Returns a reply whose body is in memory, if it is a short reply of git. Calls `onBeginning` with
 * the beginning of the body, as Latin-1.
 */
async function readIfShort(reply: Reply, onBeginning: (text: string) => void): Promise<Reply> {
  if (reply.status !== 200 || !isStream(reply.body)) return reply
  const { beginning, rest } = await readAhead(reply.body, REFS_BYTES_MAX)
  onBeginning(beginning.toString('latin1', 0, BEGINNING_BYTES))
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

/** Runs git, and stores its whole answer if the settings and git stay the same. */
async function askAndStore(
  { git, repositoryPath, ask }: AdvertisementRequest,
  settingsText: string | undefined,
): Promise<Reply> {
  const identity = gitIdentity(git)
  const reply = await ask()
  if (settingsText === undefined) return reply
  if (reply.status !== 200 || !isStream(reply.body)) return reply
  const body = await readBody(reply.body, ADVERTISEMENT_BYTES_MAX)
  const headers = Object.freeze(reply.headers ?? [])
  const whole: Reply = { ...reply, headers, body }
  const isComplete = body.subarray(-FLUSH.length).toString() === FLUSH
  const isSame = readPresentState(repositoryPath)?.settingsText === settingsText
  if (isComplete && isSame && gitIdentity(git) === identity) {
    cachedAdvertisements.set(settingsText, whole)
  }
  return whole
}

function isStream(body: Reply['body']): body is AsyncIterable<Uint8Array> {
  return typeof body === 'object' && Symbol.asyncIterator in body
}
