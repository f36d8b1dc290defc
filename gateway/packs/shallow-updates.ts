/** Fetches into kept shallow workspaces, which share one pack although their commits differ. */

import { writeFileSync } from 'node:fs'
import { LRUCache } from 'lru-cache'
import type { UpdateContents } from '../../cgi/objects/update-pack.js'
import { type Awaitable, after } from '../../conf/lib/awaitable.js'
import type { WriteOptions } from './answer-names.js'
import type { CommitGraph } from './commit-graph.js'
import type { FetchRequest } from './normal-fetch.js'
import { packetLine, sidebandPacket, sidebandPieces } from './pkt-line.js'
import type { HistoryOwner, RecentHistories } from './recent-histories.js'
import type { ReferenceList } from './reference-list.js'
import {
  acknowledge,
  argumentsOf,
  type ExpectedForm,
  havesOf,
  isDone,
  SHARED_BYTES_MAX,
} from './shared-bases.js'
import { bodyOf, type ShortAnswer, type WarmAnswer } from './warm-answer.js'

const DEPTH_MAX = 64
/** Maximum number of commits of an update. */
const COMMITS_MAX = 128
/** Maximum number of commits of which the clients of one answer must have one. */
const BASES_MAX = 64
const PAIRS_MAX = 256

/** Number of commits in the line of first parents of a tip that are near it. */
const NEAR_COMMITS = 64

/**
 * Clients that an answer is for: those with a commit near the tip, or others, such as those with
 * commits of other branches, who need more.
 */
type Reach = 'near' | 'far'

/** Maximum bytes of packs. */
const PACK_BYTES_MAX = { near: SHARED_BYTES_MAX, far: 2_097_152 } as const

/** Maximum bytes of a shared answer with its bases and packet headers. */
export const UPDATE_BYTES_MAX = PACK_BYTES_MAX.far + 8_192

/** Share of the counts of clients that remains after each tip that is expected. */
const REMAINING = 0.75

const REPOSITORIES_MAX = 500
const TIPS_MAX = 1_000

/** Maximum number of answers for one tip; a later one has the commits that clients have by then. */
const GENERATIONS_MAX = 8
/** Number of answers that are tried for one client. */
const TRIES = 3

/** Arguments that do not change what a client needs. */
const NEUTRAL_ARGUMENTS: ReadonlySet<string> = new Set(['no-progress', 'ofs-delta', 'thin-pack'])

/** Makes a short pack; undefined if it is too long, or if that fails. */
export type AskPack = (
  repositoryPath: string,
  contents: UpdateContents,
  signal: AbortSignal,
) => Promise<Buffer | undefined>

/** Makers of short packs. */
export interface AskPacks {
  /** See `updatePack`. */
  readonly git: AskPack
  /** Makes the pack without a process; see `smallUpdatePack`. */
  readonly small: AskPack
}

/** An answer that many clients can use, and how it is written. */
export interface SharedUpdate {
  /** Fetch in place of those of all clients; git does not know its arguments. */
  readonly request: FetchRequest
  /** Writes the answer, and returns true. Throws if the disk is full. */
  readonly write: (options: Pick<WriteOptions, 'file' | 'signal'>) => Promise<boolean>
  /** The same without git; returns false, without having written, if git must make the pack. */
  readonly writeSmall: SharedUpdate['write']
}

/** An update, and the history and refs that its answer is made from. */
export interface Asked {
  readonly owner: HistoryOwner
  readonly request: FetchRequest
  readonly history: CommitGraph
  readonly references: ReferenceList
  readonly cut: Cut
}

/** The commits that a client of some depth gets. */
interface Cut {
  readonly tip: string
  /** Commits whose parents the client gets as well. */
  readonly interior: readonly string[]
  /** Commits at the depth, which are shallow afterwards. */
  readonly boundary: readonly string[]
  /** Commits near the tip. */
  readonly near: ReadonlySet<string>
}

/** The clients of a repository. */
interface Clients {
  /** Commits that they have received lately. */
  readonly received: LRUCache<string, true>
  /** Number of clients, fewer after each expected tip. */
  readonly count: Record<Reach, number>
}

/** File that an answer is written to, and true if git must not run. */
interface Making extends Pick<WriteOptions, 'file' | 'signal'> {
  readonly isSmall: boolean
}

export class ShallowUpdates {
  readonly #histories: RecentHistories
  readonly #ask: AskPacks
  readonly #clients = new LRUCache<string, Clients>({ max: REPOSITORIES_MAX })
  /** Number of the present answer, by repository, tip and arguments. */
  readonly #generations = new LRUCache<string, number>({ max: TIPS_MAX })

  constructor(histories: RecentHistories, ask: AskPacks) {
    this.#histories = histories
    this.#ask = ask
  }

  /** Notes that a client has received the files of these commits. */
  note({ repositoryPath }: HistoryOwner, oids: readonly string[]): void {
    const { received } = this.#clientsOf(repositoryPath)
    for (const oid of oids) received.set(oid, true)
  }

  /**
   * Returns what the answer to an update is made from; undefined if no answer can be shared. The
   * first fetch of a tip outside the known history has none, because it may be the only one.
   */
  find(
    owner: HistoryOwner,
    request: FetchRequest,
    references: ReferenceList,
  ): Awaitable<Asked | undefined> {
    const [tip = ''] = request.wants
    return after(this.#histories.readRepeated(owner, tip, references), (history) => {
      const cut = history && cutOf(request, history)
      return history && cut && { owner, request, history, references, cut }
    })
  }

  /**
   * Returns the client's answer from a shared one, which `fetchShort` gets or makes; undefined if
   * there is none for the commits of the client, or if it is too long.
   */
  async answer(
    asked: Asked,
    fetchShort: (shared: SharedUpdate) => Awaitable<ShortAnswer | undefined>,
  ): Promise<Omit<WarmAnswer, 'file'> | undefined> {
    const { owner, request, history, cut } = asked
    const common = havesOf(request).filter((oid) => history.has(oid))
    const { received, count } = this.#clientsOf(owner.repositoryPath)
    if (!common.some((oid) => received.has(oid))) this.note(owner, common.slice(0, 1))
    const reach = common.some((oid) => cut.near.has(oid)) ? 'near' : 'far'
    count[reach] += 1
    for (let tries = 0; tries < TRIES; tries += 1) {
      const shared = this.#sharedUpdate(asked, reach)
      const answer = await fetchShort(shared)
      if (answer === undefined) return undefined
      const { bases, pack } = readAnswer(answer.body)
      if (bases.length === 0) return undefined
      if (common.some((oid) => bases.includes(oid))) {
        return { ...answer, ...bodyOf([headOf(asked, common), pack]) }
      }
      if (!this.#startGeneration(asked, reach, shared)) return undefined
    }
    return undefined
  }

  /** Yields the shared updates of a form that are expected for a new tip. */
  async *expected(
    owner: HistoryOwner,
    { form, tip, former }: ExpectedForm,
    references: ReferenceList,
  ): AsyncGenerator<SharedUpdate> {
    const history = await this.#histories.read(owner, tip, references)
    const request = { ...form, wants: [tip] }
    const cut = history && cutOf(request, history)
    if (history === undefined || cut === undefined) return
    // The former tips begin with the last one.
    this.note(owner, former.toReversed())
    const { count } = this.#clientsOf(owner.repositoryPath)
    for (const reach of ['near', 'far'] as const) {
      if (count[reach] >= 1)
        yield this.#sharedUpdate({ owner, request, history, references, cut }, reach)
      count[reach] *= REMAINING
    }
  }

  #sharedUpdate(asked: Asked, reach: Reach): SharedUpdate {
    const { request, cut } = asked
    const generation = this.#generations.get(keyOf(asked, reach)) ?? 0
    const lines = [`update ${cut.tip}`, `${reach} ${generation}`, ...argumentsOf(request)]
    return {
      request: {
        ...request,
        wants: [cut.tip],
        text: [request.version, request.objectFormat, ...lines].join('\n'),
      },
      write: (options) => this.#write(asked, reach, { ...options, isSmall: false }),
      writeSmall: (options) => this.#write(asked, reach, { ...options, isSmall: true }),
    }
  }

  /** Makes the next clients use a new answer instead of this one. Returns false if none is left. */
  #startGeneration(asked: Asked, reach: Reach, shared: SharedUpdate): boolean {
    const generation = this.#generations.get(keyOf(asked, reach)) ?? 0
    if (this.#sharedUpdate(asked, reach).request.text !== shared.request.text) return true
    this.#generations.set(keyOf(asked, reach), generation + 1)
    return generation < GENERATIONS_MAX
  }

  async #write(asked: Asked, reach: Reach, making: Making): Promise<boolean> {
    const answer = await this.#makeAnswer(asked, reach, making)
    if (answer !== undefined) writeFileSync(making.file, answer)
    return answer !== undefined
  }

  /** Makes an answer: a packet with the bases, as many as a pack has space for, and the pack. */
  async #makeAnswer(
    asked: Asked,
    reach: Reach,
    { signal, isSmall }: Making,
  ): Promise<Buffer | undefined> {
    const { owner, request, history, references, cut } = asked
    const ask = isSmall ? this.#ask.small : this.#ask.git
    const present = this.#histories.reached(owner.repositoryPath, references)
    const { received } = this.#clientsOf(owner.repositoryPath)
    const known = [...received.keys()].filter(
      (oid) => present.has(oid) && (reach === 'far' || cut.near.has(oid)),
    )
    const hasOffsetDeltas = argumentsOf(request).includes('ofs-delta')
    // The commits that clients have received last come first.
    for (let bases = known; bases.length > 0; bases = bases.slice(0, bases.length / 2)) {
      const pairs = pairsOf(cut, bases, history)
      if (pairs.length > PAIRS_MAX) continue
      const contents = { pairs, hasOffsetDeltas, bytesMax: PACK_BYTES_MAX[reach] }
      const pack = await ask(owner.repositoryPath, contents, signal)
      // The answer of a process that was ended is not that of one without bases.
      signal.throwIfAborted()
      if (pack !== undefined) return writeAnswer(bases, pack)
      if (isSmall) return undefined
    }
    return writeAnswer([], Buffer.alloc(0))
  }

  #clientsOf(repositoryPath: string): Clients {
    const known = this.#clients.get(repositoryPath)
    if (known !== undefined) return known
    const received = new LRUCache<string, true>({ max: BASES_MAX })
    const clients = { received, count: { near: 0, far: 0 } }
    this.#clients.set(repositoryPath, clients)
    return clients
  }
}

function keyOf({ owner, request, cut }: Asked, reach: Reach): string {
  return [owner.repositoryPath, cut.tip, reach, ...argumentsOf(request)].join('\n')
}

/** True for a fetch of one commit with a depth, by a client that has commits. */
export function isShallowUpdate(request: FetchRequest): boolean {
  if (request.version !== 2 || !request.text.includes('\nhave ')) return false
  const others = argumentsOf(request).filter((argument) => !NEUTRAL_ARGUMENTS.has(argument))
  return request.wants.length === 1 && others.length === 1 && depthOf(request) <= DEPTH_MAX
}

/** Returns the depth of a fetch; Infinity if it has none. */
function depthOf(request: FetchRequest): number {
  const depth = argumentsOf(request).find((argument) => argument.startsWith('deepen '))
  return depth === undefined ? Number.POSITIVE_INFINITY : Number(depth.slice('deepen '.length))
}

/** Returns the commits that a client gets; undefined if they are many, or not all are known. */
function cutOf(request: FetchRequest, history: CommitGraph): Cut | undefined {
  const [tip = ''] = request.wants
  const depth = depthOf(request)
  const found = new Set([tip])
  const interior: string[] = []
  let level: readonly string[] = [tip]
  for (let at = 1; at < depth; at += 1) {
    const below: string[] = []
    for (const oid of level) {
      const parents = history.parentsOf(oid)
      if (parents === undefined) return undefined
      below.push(...parents.filter((parent) => !found.has(parent)))
      for (const parent of parents) found.add(parent)
    }
    interior.push(...level)
    level = [...new Set(below)]
    if (found.size > COMMITS_MAX) return undefined
  }
  const near = new Set(history.firstParents(tip, NEAR_COMMITS))
  return { tip, interior, boundary: level, near }
}

/**
 * Returns the comparisons that find what clients need. A commit has the trees and files of its
 * first parent and those in which it differs. Where that chain ends, they are compared with all
 * bases, because a client has only one of them.
 */
function pairsOf({ interior, boundary }: Cut, bases: readonly string[], history: CommitGraph) {
  const pairs: [commit: string, other: string][] = []
  for (const oid of [...interior, ...boundary]) {
    const [parent] = boundary.includes(oid) ? [] : (history.parentsOf(oid) ?? [])
    const others = parent === undefined ? bases : [parent]
    for (const other of others) pairs.push([oid, other])
  }
  return pairs
}

/** Returns the packets before the pack: what git acknowledges, and which commits are shallow. */
function headOf({ request, cut }: Asked, common: readonly string[]): Buffer {
  const shallow = request.text.split('\n').filter((line) => line.startsWith('shallow '))
  const present = new Set(shallow.map((line) => line.slice('shallow '.length)))
  const lines = [
    'shallow-info\n',
    ...cut.boundary.filter((oid) => !present.has(oid)).map((oid) => `shallow ${oid}`),
    ...cut.interior.filter((oid) => present.has(oid)).map((oid) => `unshallow ${oid}`),
  ]
  const section = Buffer.from(`${lines.map(packetLine).join('')}0001`)
  return isDone(request) ? section : Buffer.concat([acknowledge(common), section])
}

function writeAnswer(bases: readonly string[], pack: Buffer): Buffer {
  const head = Buffer.from(`${packetLine(bases.join(' '))}${packetLine('packfile\n')}`)
  const packets = [...sidebandPieces(pack)].flatMap(sidebandPacket)
  return Buffer.concat([head, ...packets, Buffer.from('0000')])
}

/** Returns the bases of a shared answer, and its packets from the pack on. */
function readAnswer(answer: Buffer) {
  const length = Number.parseInt(answer.toString('latin1', 0, 4), 16)
  const bases = answer.toString('latin1', 4, length).split(' ').filter(Boolean)
  return { bases, pack: answer.subarray(length) }
}
