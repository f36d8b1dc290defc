/** The pack cache: answers `ls-refs` and clones from stored and from in-flight answers of git. */

import { fstatSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Reachability } from '../../cgi/objects/reachability.js'
import type { Git } from '../../cgi/process/git.js'
import {
  type RepositoryState,
  readPresentState,
  readStateOfTick,
} from '../../cgi/repository/repository-state.js'
import { isFailure } from '../../conf/failures.js'
import { type Awaitable, after } from '../../conf/lib/awaitable.js'
import type { Log } from '../../conf/log.js'
import { AnswerNames, dependsOnAll, type Seen, type Wanted } from './answer-names.js'
import { type Base, ExtendedAnswers } from './extended-answers.js'
import { writeByGit } from './git-answer.js'
import type { KeptDownloads } from './kept-downloads.js'
import { KnownRequests } from './known-requests.js'
import type { FetchRequest, ObjectFormat } from './normal-fetch.js'
import type { NormalRequest } from './normal-request.js'
import type { PackStore } from './pack-store.js'
import { isIdle, type ProcessQueue } from './process-queue.js'
import type { ReachableWants } from './reachable-wants.js'
import type { ReferenceLists } from './reference-lists.js'
import type { RepeatedCheckouts } from './repeated-checkouts.js'
import { ANSWER_BYTES_MAX, RepeatedFetches } from './repeated-fetches.js'
import {
  type PresentQuestion,
  presentReferences,
  type ReferencesQuestion,
  referencesFor,
  type SeenReferences,
} from './seen-references.js'
import type { SharedAnswers } from './shared-answers.js'
import {
  type CoordinatorLink,
  type PushedRepository,
  type SingleFlight,
  SingleFlightMissed,
  type SingleFlightPlan,
} from './single-flight.js'
import { SmallAnswers } from './small-answers.js'
import {
  bodyOf,
  drain,
  isNew,
  leave,
  type PackCacheOutcome,
  refusalOf,
  type WarmAnswer,
} from './warm-answer.js'

/** Labels of a request to git-upload-pack; `other` is any request that bypassed the pack cache. */
export interface PackCacheLabels {
  readonly command: WarmAnswer['command'] | 'other'
  readonly outcome: PackCacheOutcome | 'bypass'
}

/** An upload-pack request of a client that may read the repository. */
export interface WarmRequest {
  /** Absolute path of the bare repository. */
  readonly repositoryPath: string
  /** Size of the repository on disk, which estimates the size of its largest answer. */
  readonly repositoryBytes: number
  /** Returns the client that a git process is counted for, if one is needed; see `auth/client`. */
  readonly client: () => string
  /** The request; its signal is read only if the answer must be waited for. */
  readonly request: { readonly signal: AbortSignal }
}

export interface PackCacheParts {
  readonly git: Git
  readonly log: Log
  readonly singleFlight: SingleFlight
  readonly store: PackStore
  readonly downloads: KeptDownloads
  readonly references: ReferenceLists
  readonly reachable: ReachableWants
  readonly shared: SharedAnswers
  readonly checkouts: RepeatedCheckouts
  readonly queue: ProcessQueue
  readonly link: Pick<CoordinatorLink, 'announce'>
  readonly timeoutMs: () => number
}

const SHA1_DIGITS = 40

/** Client of the git processes that no request has started; see `auth/client`. */
const PREPARER = 'answers in advance'

const TRIES = 5
const PAUSE_MS = 20

/**
 * A cache of git's answers to upload-pack requests. Callers must have authorized the request. A
 * request is left to git unless the cached answer is provably what git would answer now.
 */
export class PackCache {
  readonly #parts: PackCacheParts
  readonly #names: AnswerNames
  readonly #requests = new KnownRequests()
  readonly #repeated = new RepeatedFetches()
  readonly #extended: ExtendedAnswers
  readonly #small = new SmallAnswers()

  constructor(parts: PackCacheParts) {
    this.#parts = parts
    this.#names = new AnswerNames(parts.git)
    this.#extended = new ExtendedAnswers({ ...parts, names: this.#names })
  }

  /** Stored downloads that are not answers to upload-pack requests. */
  get downloads(): KeptDownloads {
    return this.#parts.downloads
  }

  /** Bytes of answers that this process holds in memory. */
  get memoryBytes(): number {
    return this.#parts.store.memoryBytes
  }

  /** Starts to remove stored answers until the disk has its configured free space. */
  evictToFit(): void {
    this.#parts.store.evictToFit().catch((error: unknown) => {
      this.#parts.log.warn({ error }, 'pack cache eviction failed')
    })
  }

  /**
   * Answers a decoded, complete request body; settles with the first byte of the answer. Returns
   * undefined if git must answer. Throws `unavailable` or `throttled` like `ProcessQueue.enter`,
   * and UploadPackError if git rejects the request.
   */
  answer(
    warmRequest: WarmRequest,
    body: Buffer,
    version: 0 | 2,
  ): Awaitable<WarmAnswer | undefined> {
    const request = this.#requests.read(body, version)
    if (request === undefined) return undefined
    return this.#answer(warmRequest, request)
  }

  /** Starts to make answers after a push, in all workers. */
  notePush(pushed: PushedRepository): void {
    this.#parts.link.announce(pushed)
    this.prepareAfter(pushed)
  }

  /** Starts to make the answers that the clients of this worker are expected to request. */
  prepareAfter(pushed: PushedRepository): void {
    const request = new AbortController()
    this.#prepare({ ...pushed, client: () => PREPARER, request }).catch((error: unknown) => {
      const isBusy = isFailure(error, 'throttled') || isFailure(error, 'unavailable')
      if (!isBusy) this.#parts.log.warn({ error, ...pushed }, 'answers were not made in advance')
    })
  }

  /** Makes the expected answers, each when no request waits for a git process. */
  async #prepare(warmRequest: WarmRequest): Promise<void> {
    const { queue, shared, checkouts } = this.#parts
    const { repositoryPath } = warmRequest
    const known = this.#repeated.any(repositoryPath)
    if (known === undefined || !(await isIdle(queue))) return
    const present = readStateOfTick(repositoryPath)
    if (present === undefined) return
    const seen = await this.#read(warmRequest, known, present)
    if (seen === undefined) return
    const { references } = seen
    const expected = this.#repeated.expected(repositoryPath, references, {
      shared: (form) => shared.expected(warmRequest, form, references),
      checkouts: (tips) => checkouts.expected(warmRequest, tips),
    })
    for await (const fetch of expected) {
      if (!(await isIdle(queue))) return
      const answer = await this.#fetch(warmRequest, { ...seen, ...fetch })
      if (answer === undefined) continue
      const bytes = await drain(answer.body, fetch.bytesMax ?? ANSWER_BYTES_MAX)
      fetch.noteLength?.(bytes)
    }
  }

  #answer(warmRequest: WarmRequest, request: NormalRequest): Awaitable<WarmAnswer | undefined> {
    const present = readStateOfTick(warmRequest.repositoryPath)
    if (present === undefined) return undefined
    return after(this.#read(warmRequest, request, present), (seen) => {
      if (seen === undefined) return undefined
      const { state, references } = seen
      if (request.command === 'ls-refs') {
        const list = references.answer(request)
        const outcome = seen.isKnown ? 'hit' : 'miss'
        return { command: 'ls-refs', outcome, ...bodyOf(list) }
      }
      const wanted = { request, state, references }
      if (request.version === 0) {
        return references.areTargets(request.wants) ? this.#fetch(warmRequest, wanted) : undefined
      }
      if (!references.areTips(request.wants)) return this.#fetchReachable(warmRequest, wanted)
      const { shared } = this.#parts
      const name = this.#names.nameOf(warmRequest.repositoryPath, wanted)
      const fetchExactly = (exact: Wanted) => this.#fetch(warmRequest, exact)
      const asked = { owner: warmRequest, wanted, name, fetchExactly }
      return after(shared.answer(asked), (answer) => {
        if (answer === undefined) return undefined
        const { bytes, outcome } = answer
        const fetched = { request, references, bytes, isNew: isNew(outcome) }
        this.#repeated.note({ ...warmRequest, ...fetched })
        return answer
      })
    })
  }

  /** Returns the present refs for another purpose; see `presentReferences`. */
  presentReferences(
    question: PresentQuestion,
    objectFormat: ObjectFormat,
  ): Awaitable<Seen | undefined> {
    return presentReferences(this.#parts.references, question, objectFormat)
  }

  #read(
    question: ReferencesQuestion,
    request: NormalRequest,
    present: RepositoryState,
  ): Awaitable<SeenReferences | undefined> {
    return referencesFor(this.#parts.references, question, { request, present })
  }

  /**
   * Refuses a request of version 2 that git is to answer, if it wants a commit that no ref reaches:
   * git itself would send it.
   */
  async refuse(
    warmRequest: WarmRequest,
    wants: readonly string[],
  ): Promise<WarmAnswer | undefined> {
    const present = readStateOfTick(warmRequest.repositoryPath)
    if (wants.length === 0 || present === undefined) return undefined
    const request = fetchOf(wants)
    const seen = await this.#read(warmRequest, request, present)
    if (seen === undefined || seen.references.areTips(request.wants)) return undefined
    const verdict = await this.#check(warmRequest, { request, ...seen })
    return verdict.kind === 'unreachable' ? refusalOf(verdict.commit) : undefined
  }

  /** Answers a fetch of objects that are not tips, if refs reach them; otherwise refuses it. */
  async #fetchReachable(warmRequest: WarmRequest, wanted: Wanted): Promise<WarmAnswer | undefined> {
    const verdict = await this.#check(warmRequest, wanted)
    if (verdict.kind === 'unknown') return undefined
    if (verdict.kind === 'unreachable') return refusalOf(verdict.commit)
    const answer = await this.#fetch(warmRequest, wanted)
    if (answer !== undefined) {
      const { request } = wanted
      const { bytes, outcome } = answer
      this.#parts.checkouts.note({
        ...warmRequest,
        request,
        bytes,
        isNew: isNew(outcome),
      })
    }
    return answer
  }

  #check(warmRequest: WarmRequest, { request, references }: Wanted): Promise<Reachability> {
    const { repositoryPath } = warmRequest
    const client = warmRequest.client()
    return this.#parts.reachable.check({ repositoryPath, client, wants: request.wants, references })
  }

  #fetch(warmRequest: WarmRequest, wanted: Wanted): Awaitable<WarmAnswer | undefined> {
    const key = this.#names.nameOf(warmRequest.repositoryPath, wanted)
    const held = this.#parts.store.held(key)
    if (held !== undefined) {
      return { command: 'fetch', outcome: 'hit', ...held }
    }
    return this.#findOrJoin(key, warmRequest, wanted)
  }

  async #findOrJoin(
    key: string,
    warmRequest: WarmRequest,
    wanted: Wanted,
  ): Promise<WarmAnswer | undefined> {
    const { store, singleFlight } = this.#parts
    let isMade = false
    const plan = this.#plan(key, warmRequest, wanted, () => {
      isMade = true
    })
    for (let tries = 0; tries < TRIES; tries += 1) {
      const stored = await store.find(key)
      if (stored !== undefined) return { command: 'fetch', outcome: 'hit', ...stored }
      if (!(await store.canFit(warmRequest.repositoryBytes))) return undefined
      try {
        const { body, isLeader } = await singleFlight.join(plan, warmRequest.request.signal)
        const own = isMade ? 'made' : 'miss'
        return { command: 'fetch', outcome: isLeader ? own : 'join', body }
      } catch (error) {
        if (isFileSystemError(error)) {
          this.#parts.log.warn({ error }, 'pack cache file could not be written')
          return undefined
        }
        if (!(error instanceof SingleFlightMissed)) throw error
        await sleep(PAUSE_MS * tries)
      }
    }
    return undefined
  }

  /** Plans the answer. Calls `onMade` when it is written without a git process. */
  #plan(
    key: string,
    warmRequest: WarmRequest,
    wanted: Wanted,
    onMade: () => void,
  ): SingleFlightPlan {
    const { git, store, queue } = this.#parts
    const { repositoryPath } = warmRequest
    const client = warmRequest.client()
    const question = { repositoryPath, wanted }
    return {
      key,
      write: async (file, { signal, onStarted }) => {
        // Another worker or gateway may have stored it after this one looked for it.
        const stored = await store.find(key)
        if (stored !== undefined) {
          await leave(stored.body)
          throw new SingleFlightMissed('the answer was stored in the meantime')
        }
        const options = { file: file.file, signal, timeoutMs: this.#parts.timeoutMs() }
        const end = async (isAnswered: boolean, base?: Base) => {
          const { size: bytes } = fstatSync(file.file)
          const isKept = isAnswered && (await this.#isStillCurrent(warmRequest, wanted))
          if (!isKept) return { bytes }
          const keep = async () => {
            await store.keep(key, { path: file.path, bytes })
            this.#extended.note(question, bytes, base)
          }
          return { bytes, keep }
        }
        let freeSlot = () => {}
        try {
          if (await this.#small.write(question, options)) {
            onMade()
            return await end(true)
          }
          freeSlot = await queue.enter(signal, { repository: repositoryPath, client })
          const base = await this.#extended.write(question, options)
          const write = wanted.write ?? ((rest) => writeByGit(git, question, rest))
          const isAnswered = base !== undefined || (await write({ ...options, onStarted }))
          return await end(isAnswered, base)
        } catch (error) {
          if (isFileSystemError(error)) store.noteFull()
          throw error
        } finally {
          freeSlot()
        }
      },
    }
  }

  /** Returns true if the answer is valid whenever git read the repository since the request. */
  async #isStillCurrent(warmRequest: WarmRequest, wanted: Wanted): Promise<boolean> {
    const { request, state, references } = wanted
    const present = readPresentState(warmRequest.repositoryPath)
    if (state.isSettled && present?.text === state.text) return true
    if (dependsOnAll(request, state) || present?.settingsText !== state.settingsText) return false
    if (!request.includesTags) return true
    const seen = await this.#read(warmRequest, request, present)
    if (seen?.state.settingsText !== state.settingsText) return false
    return seen.references.tagsDigest === references.tagsDigest
  }
}

/** Returns a fetch of these objects whose other arguments have no effect. */
function fetchOf(wants: readonly string[]): FetchRequest {
  const isSha256 = wants.some((oid) => oid.length > SHA1_DIGITS)
  return {
    command: 'fetch',
    version: 2,
    objectFormat: isSha256 ? 'sha256' : 'sha1',
    wants,
    includesTags: false,
    asksReferences: false,
    text: '',
  }
}

/** Returns true for a file system error, after which git can still answer without the cache. */
function isFileSystemError(error: unknown): boolean {
  return error instanceof Error && 'code' in error && typeof error.code === 'string'
}
