/** Advertisements of git-receive-pack, made from ref files or lists and git's own capabilities. */

import { LRUCache } from 'lru-cache'
import type { Git } from '../../cgi/process/git.js'
import { gitIdentity, watchIdentity } from '../../cgi/process/git-identity.js'
import { PUSHED_PREFIXES, showsSameReferences } from '../../cgi/refs/pushed-references.js'
import { readPushedReferences } from '../../cgi/refs/reference-files.js'
import {
  type RepositoryState,
  readPresentState,
  readStateOfTick,
} from '../../cgi/repository/repository-state.js'
import type { Reply } from '../../conf/http.js'
import { readOnce } from '../../conf/lib/chunks.js'
import {
  type AdvertisedParts,
  advertisedBody,
  advertisedParts,
  beginningOf,
  NULL_ID,
} from './advertised-refs.js'
import { enterQueue, type QueueContext } from './enter-queue.js'
import { formOf } from './line-forms.js'
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
interface Learned extends AdvertisedParts {
  readonly headers: NonNullable<Reply['headers']>
}

/** Maximum configurations with learned capabilities; most repositories have the same one. */
const ENTRIES_MAX = 100

/** Time after which git is asked again whether its answer can be derived. */
const ASKED_AGAIN_MS = 60_000

/**
 * Learned parts by the text of the settings. `git` means that git must answer: its answer is being
 * read by another request, or it cannot be derived.
 */
const learnedParts = new LRUCache<string, Learned | 'git'>({ max: ENTRIES_MAX })

const forgetFormerGit = watchIdentity(() => learnedParts.clear())

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
  forgetFormerGit(context.git)
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
  const body = advertisedBody(learned, packets)
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
  // A push would wait longer than git takes to list the refs.
  const visitor = { repositoryPath, client: () => client, isUrgent: true }
  const seen = await context.packCache.presentReferences(visitor, learned.objectFormat)
  if (seen?.state.settingsText !== state.settingsText) return undefined
  return seen.references.packets(PUSHED_PREFIXES, PUSHED)
}

const BEGINNING = beginningOf('git-receive-pack')

const PUSHED = formOf({ peel: false, symrefs: false, unborn: false })

/** Returns git's answer, and keeps its parts if it is complete and the state is the same. */
async function learn(
  { git }: PushAdvertisementContext,
  { repositoryPath, ask }: PushAdvertisementRequest,
  { settingsText, isSettled, text }: RepositoryState,
): Promise<Reply> {
  if (!isSettled) return ask()
  const identity = gitIdentity(git)
  const leaveToGit = () => learnedParts.set(settingsText, 'git', { ttl: ASKED_AGAIN_MS })
  leaveToGit()
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
      const isPresent = readPresentState(repositoryPath)?.text === text
      if (!isPresent || gitIdentity(git) !== identity || !IS_COMPLETE.test(end)) return fail()
      const parts =
        isSame && !HAS_SHALLOW.test(end) ? advertisedParts(beginning, BEGINNING) : undefined
      if (parts === undefined) return leaveToGit()
      return learnedParts.set(settingsText, { headers: Object.freeze(headers), ...parts })
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
