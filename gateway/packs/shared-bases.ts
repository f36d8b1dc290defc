/** Fetches into kept workspaces that have many different commits, in a form that they share. */

import { LRUCache } from 'lru-cache'
import { type Awaitable, after } from '../../conf/lib/awaitable.js'
import type { CommitGraph } from './commit-graph.js'
import { type FetchRequest, normalFetch } from './normal-fetch.js'
import { FETCH_FLAGS } from './normal-request.js'
import { packetLine } from './pkt-line.js'
import type { HistoryOwner, RecentHistories } from './recent-histories.js'
import type { ReferenceList } from './reference-list.js'

/**
 * Positions of bases below a tip, in its line of first parents. A client that has a commit above a
 * base has the base as well, so it can use the pack for a client that has only the base. From base
 * to base, such a pack grows by about a half.
 */
const BASES = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256] as const

/** Number of commits that the line of a tip has: the tip, and those down to the last base. */
const LINE_COMMITS_MAX = 257

/** Maximum number of tips, each of about 40 KiB, in memory. */
const TIPS_MAX = 256

/** Number of repositories whose clients' bases are counted. */
const REPOSITORIES_MAX = 500

/** Share of the clients of a repository for which an answer is made in advance. */
const EXPECTED = 0.95

/** Share of the counts of bases that remains after each tip that is expected. */
const REMAINING = 0.75

/** Maximum bytes of a shared answer; above it, each client gets the answer to its own request. */
export const SHARED_BYTES_MAX = 262_144

/** Maximum number of shared requests whose answers are known to be too long. */
const LONG_MAX = 1_000

/** A form of fetch that is expected for a new tip. */
export interface ExpectedForm {
  readonly form: FetchRequest
  readonly tip: string
  /** Tips that clients have fetched lately. */
  readonly former: readonly string[]
}

/** The shared form of a fetch. */
export interface SharedFetch {
  /** Requests whose answers the client can use; an earlier one suits more clients. */
  readonly requests: readonly FetchRequest[]
  /** Packets before the shared answer: what git acknowledges; empty if the client is `done`. */
  readonly head: Buffer
}

/** A tip that clients fetch. */
interface Tip {
  /** Line of first parents. */
  readonly line: readonly string[]
  /** Positions in the line by their ids. */
  readonly positions: ReadonlyMap<string, number>
  /** Bases, by their numbers, that fetches have used or are expected to use. */
  readonly used: Set<number>
}

/** Clients of a repository. */
interface Clients {
  /** Number of clients with each base. */
  readonly counts: number[]
  /** Lowest base that is tried in advance: one below the last one with a short answer. */
  lowest: number
}

export class SharedBases {
  readonly #histories: RecentHistories
  /** Tips by repository and id. */
  readonly #tips = new LRUCache<string, Tip>({ max: TIPS_MAX })
  /** Needs of the clients of each repository. */
  readonly #clients = new LRUCache<string, Clients>({ max: REPOSITORIES_MAX })
  readonly #long = new LRUCache<string, true>({ max: LONG_MAX })

  constructor(histories: RecentHistories) {
    this.#histories = histories
  }

  /**
   * Returns the shared form of a sharable fetch; undefined if it has none. The first fetch of a tip
   * outside the known history has none, because it may be the only one.
   */
  find(
    owner: HistoryOwner,
    request: FetchRequest,
    references: ReferenceList,
  ): Awaitable<SharedFetch | undefined> {
    const [tip, ...otherWants] = request.wants
    if (tip === undefined || otherWants.length > 0) return undefined
    return after(
      this.#histories.readRepeated(owner, tip, references),
      (history) => history && this.#sharedFetch(owner.repositoryPath, request, history),
    )
  }

  /**
   * Returns the shared form of a fetch if the client has a commit of the tip's line. It has the
   * requests for the bases that are in use, down to the client's own base.
   */
  #sharedFetch(
    repositoryPath: string,
    request: FetchRequest,
    history: CommitGraph,
  ): SharedFetch | undefined {
    const tip = this.#tipOf(repositoryPath, request.wants[0] ?? '', history)
    const common = havesOf(request).filter((oid) => history.has(oid))
    const nearest = nearestBase(common, history, tip)
    if (nearest === undefined) return undefined
    tip.used.add(nearest)
    const { counts } = this.#clientsOf(repositoryPath)
    counts[nearest] = (counts[nearest] ?? 0) + 1
    return {
      requests: this.#requestsFrom(nearest, tip, request),
      head: isDone(request) ? Buffer.alloc(0) : acknowledge(common),
    }
  }

  /** Returns the requests for the used bases, the lowest first, that are not known to be long. */
  #requestsFrom(nearest: number, { used, line }: Tip, request: FetchRequest): FetchRequest[] {
    const bases = [...used].filter((base) => base >= nearest).toSorted((one, other) => other - one)
    return bases.flatMap((base) => {
      const shared = fetchFrom(request, line, base)
      if (!this.isLong(shared)) return [shared]
      used.delete(base)
      return []
    })
  }

  /**
   * Yields the shared fetches of a form that are expected for a new tip: that for the base which
   * suffices for most clients, and those for nearer bases as long as the answers are too long.
   */
  async *expected(
    owner: HistoryOwner,
    { form, tip: oid, former }: ExpectedForm,
    references: ReferenceList,
  ): AsyncGenerator<FetchRequest> {
    const { repositoryPath } = owner
    const history = await this.#histories.read(owner, oid, references)
    if (history === undefined) return
    const tip = this.#tipOf(repositoryPath, oid, history)
    const clients = this.#clientsOf(repositoryPath)
    const { counts } = clients
    const formerBase = nearestBase(former, history, tip) ?? 0
    const first = Math.max(Math.min(expectedBase(counts), clients.lowest), formerBase)
    let base = first
    for (; base >= 0; base -= 1) {
      const next = fetchFrom(form, tip.line, base)
      // Several bases are the first commit of a short history.
      if (this.isLong(next)) continue
      tip.used.add(base)
      yield next
      if (!this.isLong(next)) break
    }
    clients.lowest = base < first ? base + 1 : Math.max(clients.lowest, base + 1)
    for (const base of counts.keys()) counts[base] = (counts[base] ?? 0) * REMAINING
  }

  #tipOf(repositoryPath: string, oid: string, history: CommitGraph): Tip {
    const key = keyOf(repositoryPath, oid)
    const known = this.#tips.get(key)
    if (known !== undefined) return known
    const line = history.firstParents(oid, LINE_COMMITS_MAX)
    const tip = {
      line,
      positions: new Map(line.map((id, at) => [id, at])),
      used: new Set<number>(),
    }
    this.#tips.set(key, tip)
    return tip
  }

  #clientsOf(repositoryPath: string): Clients {
    const known = this.#clients.get(repositoryPath)
    if (known !== undefined) return known
    const clients = { counts: BASES.map(() => 0), lowest: BASES.length }
    this.#clients.set(repositoryPath, clients)
    return clients
  }

  /** Returns true if the answer to a shared fetch is known to be too long. */
  isLong(request: FetchRequest): boolean {
    return this.#long.has(request.text)
  }

  noteLong(request: FetchRequest): void {
    this.#long.set(request.text, true)
  }
}

function keyOf(repositoryPath: string, oid: string): string {
  return `${repositoryPath} ${oid}`
}

/** Returns the number of the base that suffices for most clients. */
function expectedBase(counts: readonly number[]): number {
  const enough = EXPECTED * counts.reduce((sum, count) => sum + count, 0)
  let sum = 0
  return counts.findIndex((count) => {
    sum += count
    return sum >= enough
  })
}

/** True for a fetch that has commits and all of the history below them. */
export function isSharable({ version, text }: FetchRequest): boolean {
  // A client that has no complete history below its commits does not have the bases either.
  return (
    version === 2 && text.includes('\nhave ') && !/\n(?:deepen|shallow|wait-for-done)/.test(text)
  )
}

/** True if the client sends no more commits. */
export function isDone({ text }: FetchRequest): boolean {
  return text.split('\n').includes('done')
}

/** Returns the commits that the client says it has. */
export function havesOf({ text }: FetchRequest): readonly string[] {
  const haves = text.split('\n').filter((argument) => argument.startsWith('have '))
  return haves.map((have) => have.slice('have '.length))
}

/**
 * Returns the number of the nearest base that is below one of the commits; undefined if there is
 * none, or if the tip itself is.
 */
function nearestBase(
  commits: readonly string[],
  history: CommitGraph,
  { positions }: Tip,
): number | undefined {
  let nearest = Number.POSITIVE_INFINITY
  for (const oid of history.reachedFrom(commits, positions)) {
    nearest = Math.min(nearest, positions.get(oid) ?? nearest)
  }
  const base = BASES.findIndex((position) => position >= nearest)
  return nearest === 0 || base === -1 ? undefined : base
}

/** Returns the fetch of a client that has only the base with this number, or the last commit. */
function fetchFrom(request: FetchRequest, line: readonly string[], base: number): FetchRequest {
  const oid = line[BASES[base] ?? 0] ?? line.at(-1)
  return withObjects(request, [`want ${line[0]}`, `have ${oid}`])
}

/** Returns a fetch of protocol v2 with the same arguments for other objects, and with `done`. */
export function withObjects(request: FetchRequest, objects: readonly string[]): FetchRequest {
  const lines = [...objects, ...argumentsOf(request), 'done']
  const fetch = normalFetch(lines, { ...request, version: 2, flags: FETCH_FLAGS })
  if (fetch === undefined) throw new Error(`not a fetch: ${lines.join(', ')}`)
  return fetch
}

/** Returns the arguments of a fetch, without the objects and without `done`. */
export function argumentsOf({ text }: FetchRequest): readonly string[] {
  const isKept = (line: string) => !/^(?:want |have |shallow |done$)/.test(line)
  return text.split('\n').slice(2).filter(isKept)
}

/** Returns the section in which git acknowledges commits and ends the negotiation. */
export function acknowledge(oids: readonly string[]): Buffer {
  const lines = ['acknowledgments\n', ...oids.map((oid) => `ACK ${oid}\n`), 'ready\n']
  return Buffer.from(`${lines.map(packetLine).join('')}0001`)
}
