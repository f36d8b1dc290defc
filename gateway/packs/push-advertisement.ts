/** Advertisements of git-receive-pack, made from ref files or lists and git's own capabilities. */

import { LRUCache } from 'lru-cache'
import type { Git } from '../../cgi/process/git.js'
import { PUSHED_PREFIXES, showsSameReferences } from '../../cgi/refs/pushed-references.js'
import { readPushedReferences } from '../../cgi/refs/reference-files.js'
import {
  type RepositoryState,
  readPresentState,
  readStateOfTick,
} from '../../cgi/repository/repository-state.js'
import type { Reply } from '../../conf/http.js'
import { readOnce } from '../../conf/lib/chunks.js'
import { enterQueue, type QueueContext } from './enter-queue.js'
import type { ObjectFormat } from './normal-fetch.js'
import type { PackCache } from './pack-cache.js'
import { packetLine } from './pkt-line.js'

export interface PushAdvertisementContext extends QueueContext {
  readonly git: Git
  readonly packCache: Pick<PackCache, 'presentReferences'>
}

export interface PushAdvertisementRequest {
  /** Absolute path of the bare repository. */
  readonly repositoryPath: string
  /** `Git-Protocol` as sent. */
  readonly gitProtocol: string | undefined
  /** Key of the client, see `auth/client`. */
  readonly client: string
  readonly signal: AbortSignal
  /** Runs git to produce the advertisement. */
  readonly ask: () => Promise<Reply>
}

/** Parts of git's answer that do not depend on the refs. */
interface Learned {
  readonly headers: NonNullable<Reply['headers']>
  /** Text after the NUL of the first ref (gitprotocol-pack(5) "Reference Discovery"). */
  readonly capabilities: string
  readonly objectFormat: ObjectFormat
}

/** Maximum configurations with learned capabilities; most repositories have the same one. */
const ENTRIES_MAX = 100

/** Maximum age of learned capabilities, so that an upgrade of git takes effect. */
const LIFETIME_MS = 60_000

/**
 * Learned parts by the text of the settings. `git` means that git must answer: its answer is being
 * read by another request, or it cannot be derived.
 */
const learnedParts = new LRUCache<string, Learned | 'git'>({ max: ENTRIES_MAX, ttl: LIFETIME_MS })

/**
 * Returns git's advertisement for a push in protocol v0, in which clients push. It has the present
 * refs, and capabilities that depend on git itself and on settings, whose text is the cache key.
 * Git is run for other versions, and if its answer could differ. Throws `unavailable` or
 * `throttled` if too many git processes run: git shows the reason to its user only here.
 */
export async function advertisePush(
  context: PushAdvertisementContext,
  request: PushAdvertisementRequest,
): Promise<Reply> {
  const { repositoryPath, gitProtocol, client, signal, ask } = request
  const state = gitProtocol === undefined ? readStateOfTick(repositoryPath) : undefined
  if (state === undefined) return ask()
  const learned = learnedParts.get(state.settingsText)
  if (learned === undefined) return learn(context, request, state)
  if (learned === 'git') return ask()
  const service = 'git-receive-pack'
  const leave = await enterQueue(context, { signal, service, repositoryPath, client })
  leave()
  const packets =
    filePackets(repositoryPath, learned.objectFormat) ??
    (await listPackets(context, request, { learned, state }))
  if (packets === undefined) return ask()
  context.metrics.countGitService({ service, outcome: 'ok' })
  const body = bodyOf(learned, packets)
  return { status: 200, headers: learned.headers, body, isRoutine: true }
}

/** Returns the packets of a few refs, read from their files as git does; undefined for others. */
function filePackets(
  repositoryPath: string,
  objectFormat: ObjectFormat,
): IterableIterator<Buffer> | undefined {
  const references = readPushedReferences(repositoryPath)
  if (references === undefined) return undefined
  const lines: string[] = []
  for (const [name, id] of references) {
    if (id.length !== NULL_ID[objectFormat].length) return undefined
    lines.push(packetLine(`${id} ${name}\n`))
  }
  return (lines.length === 0 ? [] : [Buffer.from(lines.join(''), 'latin1')]).values()
}

/** Returns the packets of the cached list; undefined if git must answer. */
async function listPackets(
  context: PushAdvertisementContext,
  { repositoryPath, client }: PushAdvertisementRequest,
  { learned, state }: { readonly learned: Learned; readonly state: RepositoryState },
): Promise<IterableIterator<Buffer> | undefined> {
  const visitor = { repositoryPath, client: () => client }
  const seen = await context.packCache.presentReferences(visitor, learned.objectFormat)
  if (seen?.state.settingsText !== state.settingsText) return undefined
  return seen.references.packets(PUSHED)
}

/** Beginning of an answer, before the first ref (gitprotocol-http(5) "Smart Server Response"). */
const BEGINNING = `${packetLine('# service=git-receive-pack\n')}0000`
const FLUSH = Buffer.from('0000')
const LENGTH_DIGITS = 4

const PUSHED = { peel: false, symrefs: false, unborn: false, prefixes: PUSHED_PREFIXES }

const NULL_ID = {
  sha1: '0'.repeat(40),
  sha256: '0'.repeat(64),
} as const satisfies Record<ObjectFormat, string>

/** Returns the answer; a stream if the list has several pieces. */
function bodyOf(learned: Learned, packets: IterableIterator<Buffer>): NonNullable<Reply['body']> {
  const first = packets.next()
  const { beginning, rest } = withCapabilities(first.done ? undefined : first.value, learned)
  const second = packets.next()
  if (second.done) return Buffer.concat([beginning, rest, FLUSH])
  const pieces = chain([beginning, rest, second.value], packets, [FLUSH])
  return readOnce(
    async () => pieces.next(),
    () => {},
  )
}

/** Returns the beginning of the answer up to its first ref, and the other packets of the piece. */
function withCapabilities(
  piece: Buffer | undefined,
  { capabilities, objectFormat }: Learned,
): { readonly beginning: Buffer; readonly rest: Buffer } {
  const length = piece ? Number.parseInt(piece.toString('latin1', 0, LENGTH_DIGITS), 16) : 0
  const ref = piece
    ? piece.toString('latin1', LENGTH_DIGITS, length - '\n'.length)
    : `${NULL_ID[objectFormat]} capabilities^{}`
  const beginning = BEGINNING + packetLine(`${ref}\0${capabilities}\n`)
  return {
    beginning: Buffer.from(beginning, 'latin1'),
    rest: piece?.subarray(length) ?? Buffer.alloc(0),
  }
}

function* chain(...parts: readonly Iterable<Buffer>[]): Generator<Buffer, undefined> {
  for (const part of parts) yield* part
}

/** Returns git's answer, and keeps its parts if it is complete and the state is the same. */
async function learn(
  { git }: PushAdvertisementContext,
  { repositoryPath, ask }: PushAdvertisementRequest,
  { settingsText, isSettled, text }: RepositoryState,
): Promise<Reply> {
  if (!isSettled) return ask()
  learnedParts.set(settingsText, 'git')
  const fail = () => learnedParts.delete(settingsText)
  try {
    const reply = await ask()
    const { status, body, headers = [] } = reply
    if (status !== 200 || typeof body !== 'object' || !(Symbol.asyncIterator in body)) {
      fail()
      return reply
    }
    const isSame = await showsSameReferences(git, repositoryPath)
    const succeed = ({ beginning, end }: Ends) => {
      if (readPresentState(repositoryPath)?.text !== text || !IS_COMPLETE.test(end)) return fail()
      const parts = isSame && !HAS_SHALLOW.test(end) ? partsOf(beginning) : undefined
      return learnedParts.set(
        settingsText,
        parts ? { headers: Object.freeze(headers), ...parts } : 'git',
      )
    }
    return { ...reply, body: watched(body, { succeed, fail }) }
  } catch (error) {
    fail()
    throw error
  }
}

/** The first and the last bytes of an answer, as Latin-1. */
interface Ends {
  readonly beginning: string
  readonly end: string
}

/** Lengths of `Ends`; the beginning has the capabilities, and the end has one packet. */
const BEGINNING_BYTES = 8_192
const END_BYTES = 128

const IS_COMPLETE = /0000$/

/** Line of a shallow repository, after the refs. The settings' text contains the file `shallow`. */
const HAS_SHALLOW = /shallow [0-9a-f]+\n0000$/

/** Yields a body. Calls `succeed` with its ends when it was read to its end, otherwise `fail`. */
function watched(
  body: AsyncIterable<Uint8Array>,
  on: { readonly succeed: (ends: Ends) => unknown; readonly fail: () => unknown },
): AsyncIterable<Uint8Array> {
  const chunks = body[Symbol.asyncIterator]()
  let beginning = ''
  let end = ''
  const next = async () => {
    try {
      const result = await chunks.next()
      if (result.done) {
        on.succeed({ beginning, end })
        return result
      }
      const chunk = Buffer.from(result.value)
      if (beginning.length < BEGINNING_BYTES) {
        beginning += chunk.toString('latin1', 0, BEGINNING_BYTES)
      }
      end = (end + chunk.subarray(-END_BYTES).toString('latin1')).slice(-END_BYTES)
      return result
    } catch (error) {
      on.fail()
      throw error
    }
  }
  const leave = () => {
    on.fail()
    return chunks.return?.()
  }
  return readOnce(next, leave)
}

/** Capabilities that differ in each answer: the nonce for signed pushes, and the session id. */
const CHANGES_EACH_TIME = /(?:^| )(?:push-cert|session-id)=/

const FIRST_REF = /^[0-9a-f]{4}[0-9a-f]+ [^ \0\n]+\0([^\0\n]+)\n/

/** Returns what the beginning of git's answer shows; undefined if it is not the same each time. */
function partsOf(beginning: string): Omit<Learned, 'headers'> | undefined {
  if (!beginning.startsWith(BEGINNING)) return undefined
  const [, capabilities] = FIRST_REF.exec(beginning.slice(BEGINNING.length)) ?? []
  if (capabilities === undefined || CHANGES_EACH_TIME.test(capabilities)) return undefined
  const [, objectFormat] = /(?:^| )object-format=(sha1|sha256)(?: |$)/.exec(capabilities) ?? []
  if (objectFormat !== 'sha1' && objectFormat !== 'sha256') return undefined
  return { capabilities, objectFormat }
}
