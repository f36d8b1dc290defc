/** Fetches into kept workspaces that have many different commits, in a form that they share. */

import { LRUCache } from 'lru-cache'
import type { Awaitable } from '../../conf/lib/awaitable.js'
import { type FetchRequest, normalFetch } from './normal-fetch.js'
import { FETCH_FLAGS } from './normal-request.js'
import { packetLine } from './pkt-line.js'

/**
 * Positions of bases below a tip, in its line of first parents. A client that has a commit above a
 * base has the base as well, so it can use the pack for a client that has only the base.
 */
const BASES = [1, 4, 16, 64, 256] as const

/** Number of commits that the line of a tip has: the tip, and those down to the last base. */
export const LINE_COMMITS_MAX = 257

/** Base of answers that are made in advance: few clients have only commits further below. */
const PREPARED_BASE = 16

/** Maximum number of lines, each of about 40 KiB, in memory. */
const LINES_MAX = 256

/** Maximum bytes of a shared answer; above it, each client gets the answer to its own request. */
export const SHARED_BYTES_MAX = 262_144

/** Maximum number of shared requests whose answers are known to be too long. */
const LONG_MAX = 1_000

/** A tip, and the client that a git process is counted for; see `auth/client`. */
export interface LineQuestion {
  /** Absolute path of the bare repository. */
  readonly repositoryPath: string
  readonly tip: string
  readonly client: () => string
}

/** Runs git for the ids of the tip and of the first parents below it, at most LINE_COMMITS_MAX. */
export type AskLine = (question: LineQuestion) => Promise<readonly string[]>

/** The shared form of a fetch. */
export interface SharedFetch {
  /** Requests whose answers the client can use; an earlier one is more likely to be stored. */
  readonly requests: readonly FetchRequest[]
  /** Packets before the shared answer: what git acknowledges; empty if the client is `done`. */
  readonly head: Buffer
}

/** Positions of commits by their ids; the tip is at 0. */
export type Line = ReadonlyMap<string, number>

interface Entry {
  /** Cache key of the first fetch of the tip; absent if the line was read before. */
  readonly first: string | undefined
  /** Absent until a second fetch needs it, because the first one may be the only one. */
  line: Line | Promise<Line> | undefined
  /** Lowest base that a fetch of the tip has used, or is expected to use; 0 for none. */
  base: number
}

export class SharedBases {
  readonly #ask: AskLine
  /** Lines by repository and tip. */
  readonly #lines = new LRUCache<string, Entry>({ max: LINES_MAX })
  readonly #long = new LRUCache<string, true>({ max: LONG_MAX })
  /** The last shared form of each request, with the line and the base that it was made from. */
  readonly #last = new WeakMap<
    FetchRequest,
    { line: Line; base: number; shared: SharedFetch | undefined }
  >()

  constructor(ask: AskLine) {
    this.#ask = ask
  }

  /**
   * Returns the shared form of a fetch; undefined if it has none, for the first fetch of a tip and
   * those equal to it, and if git cannot be run for the line of the tip. `name` is the cache key of
   * the fetch.
   */
  find(
    question: Omit<LineQuestion, 'tip'>,
    request: FetchRequest,
    name: string,
  ): Awaitable<SharedFetch | undefined> {
    const [tip, ...otherWants] = request.wants
    if (tip === undefined || otherWants.length > 0 || !isSharable(request)) return undefined
    const key = `${question.repositoryPath} ${tip}`
    const known = this.#lines.get(key)
    if (known === undefined) {
      this.#lines.set(key, { first: name, line: undefined, base: 0 })
      return undefined
    }
    if (known.first === name) return undefined
    const line = known.line ?? this.#readLine(known, { ...question, tip })
    if (!(line instanceof Promise)) return this.#sharedFetch(request, line, known)
    return line.then(
      (commits) => this.#sharedFetch(request, commits, known),
      () => undefined,
    )
  }

  #sharedFetch(request: FetchRequest, line: Line, entry: Entry): SharedFetch | undefined {
    const { base } = entry
    const last = this.#last.get(request)
    if (last?.line === line && last.base === base) return last.shared
    const shared = sharedFetch(request, line, entry)
    this.#last.set(request, { line, base: entry.base, shared })
    return shared
  }

  /**
   * Returns the line of a tip of which fetches are expected; runs git at most once for each tip.
   * Throws `unavailable` or `throttled` like `ProcessQueue.enter`.
   */
  expect(question: LineQuestion): Awaitable<Line> {
    const key = `${question.repositoryPath} ${question.tip}`
    const entry = this.#lines.get(key) ?? { first: undefined, line: undefined, base: 0 }
    entry.base = Math.max(entry.base, PREPARED_BASE)
    this.#lines.set(key, entry)
    return entry.line ?? this.#readLine(entry, question)
  }

  #readLine(entry: Entry, question: LineQuestion): Promise<Line> {
    const line = this.#ask(question).then((oids) => {
      const positions = new Map(oids.map((oid, at) => [oid, at]))
      entry.line = positions
      return positions
    })
    entry.line = line
    line.catch(() => {
      entry.line = undefined
    })
    return line
  }

  /** Returns true if the answer to a shared request, by its cache key, is known to be too long. */
  isLong(name: string): boolean {
    return this.#long.has(name)
  }

  noteLong(name: string): void {
    this.#long.set(name, true)
  }
}

/** True for a fetch that has commits and wants history to its beginning, or one commit alone. */
export function isSharable({ version, text }: FetchRequest): boolean {
  if (version !== 2 || !text.includes('\nhave ')) return false
  const isDeep = text.includes('\ndeepen')
  // A client that has no complete history below its commits does not have the bases either.
  if (!isDeep && text.includes('\nshallow ')) return false
  return (!isDeep || isDepthOne(text)) && !text.includes('\nwait-for-done')
}

/** True if `deepen 1` is the only argument that restricts the depth. */
function isDepthOne(text: string): boolean {
  return /\ndeepen 1(?:\n|$)/.test(text) && !/\ndeepen-/.test(text)
}

/**
 * Returns the shared form of a sharable fetch, if the client has a commit of the tip's line. It has
 * the request for the lowest base so far, and the one for the client's own base.
 */
function sharedFetch(request: FetchRequest, line: Line, entry: Entry): SharedFetch | undefined {
  const haves = request.text.split('\n').filter((text) => text.startsWith('have '))
  const common = haves.map((text) => text.slice('have '.length)).filter((oid) => line.has(oid))
  const nearest = Math.min(...common.map((oid) => line.get(oid) ?? 0))
  if (common.length === 0 || nearest === 0) return undefined
  const isDeep = isDepthOne(request.text)
  if (!isDeep) entry.base = Math.max(entry.base, nearest)
  const positions = isDeep ? [nearest] : [entry.base, nearest]
  const requests = positions.flatMap((position) => fetchFrom(request, line, position) ?? [])
  const isDone = request.text.split('\n').includes('done')
  return { requests, head: isDone ? Buffer.alloc(0) : acknowledge(common) }
}

/**
 * Returns the fetch of a client that has only a commit at or below this position. With depth 1 it
 * is the commit itself, without its history.
 */
function fetchFrom(request: FetchRequest, line: Line, position: number): FetchRequest | undefined {
  const oids = [...line.keys()]
  const isDeep = isDepthOne(request.text)
  const base = isDeep ? position : BASES.find((below) => below >= position)
  const oid = base === undefined ? undefined : (oids[base] ?? oids.at(-1))
  if (oid === undefined) return undefined
  const has = isDeep ? [`have ${oid}`, `shallow ${oid}`] : [`have ${oid}`]
  return withObjects(request, [`want ${oids[0]}`, ...has])
}

/** Returns the fetch that is expected of clients with a former tip, if it is in the line. */
export function expectedFetch(
  request: FetchRequest,
  line: Line,
  former: string,
): FetchRequest | undefined {
  const position = line.get(former)
  if (position === undefined) return undefined
  const isDeep = isDepthOne(request.text)
  return fetchFrom(request, line, isDeep ? position : Math.max(position, PREPARED_BASE))
}

/** Returns a fetch of protocol v2 with the same arguments for other objects, and with `done`. */
export function withObjects(
  request: FetchRequest,
  objects: readonly string[],
): FetchRequest | undefined {
  const lines = [...objects, ...argumentsOf(request), 'done']
  return normalFetch(lines, { ...request, version: 2, flags: FETCH_FLAGS })
}

/** Returns the arguments of a fetch, without the objects and without `done`. */
export function argumentsOf({ text }: FetchRequest): readonly string[] {
  const isKept = (line: string) => !/^(?:want |have |shallow |done$)/.test(line)
  return text.split('\n').slice(2).filter(isKept)
}

/** Returns the section in which git acknowledges commits and ends the negotiation. */
function acknowledge(oids: readonly string[]): Buffer {
  const lines = ['acknowledgments\n', ...oids.map((oid) => `ACK ${oid}\n`), 'ready\n']
  return Buffer.from(`${lines.map(packetLine).join('')}0001`)
}
