/** Answers of git that are being made: whoever wants the same one reads along. */

import { rm, unlink } from 'node:fs/promises'
import { isFailure } from '../../conf/failures.js'
import type { Log } from '../../conf/log.js'
import { GrowingFile } from './growing-file.js'
import type { FlightNews, FlightReport } from './single-flight-coordinator.js'

/** How a worker speaks to the board. */
export interface BoardLink {
  report(report: FlightReport): void
  /** To be called once. */
  listen(take: (news: FlightNews) => void): void
}

/** What git has made of a request. */
export interface FlightEnd {
  readonly bytes: number
  /** Gives the file its last name. Absent for what is not worth keeping: it is removed. */
  readonly keep?: () => Promise<void>
}

/** How an answer is made, by whoever is the first to want it. */
export interface FlightPlan {
  /** Plain letters and digits: equal for requests with the same answer. */
  readonly key: string
  /**
   * Has the answer written into an open file; settles when it is. Throws where it will never be
   * whole. The signal: nobody wants it any more.
   */
  readonly write: (
    file: GrowingFile,
    options: { readonly signal: AbortSignal; readonly onStarted: (groupId: number) => void },
  ) => Promise<FlightEnd>
}

/** There is nothing to read yet, or no longer, where there was a flight: ask once more. */
export class FlightMissed extends Error {
  override readonly name = 'FlightMissed'
}

/** How long git goes on without a reader; its group is to be gone within a second. */
const UNWANTED_GRACE_MS = 250

interface Flight {
  readonly file: GrowingFile
  readonly isLeader: boolean
}

export class Flights {
  readonly #link: BoardLink
  readonly #log: Log
  readonly #byKey = new Map<string, Promise<Flight>>()
  readonly #wanted = new Map<number, (news: Extract<FlightNews, { act: 'board' }>) => void>()
  /** What to do about news of a flight, by its path. */
  readonly #watchers = new Map<string, (news: FlightNews) => void>()
  #counter = 0

  constructor(link: BoardLink, log: Log) {
    this.#link = link
    this.#log = log
    link.listen((news) => {
      if (news.act === 'board') {
        this.#wanted.get(news.id)?.(news)
        this.#wanted.delete(news.id)
      } else {
        this.#watchers.get(news.path)?.(news)
      }
    })
  }

  /**
   * The answer, from its first byte on, while it is being made. Throws what the plan threw when
   * nothing was written, FlightMissed, or an error of the file system.
   */
  async join(
    plan: FlightPlan,
    signal: AbortSignal,
  ): Promise<{ readonly body: AsyncIterable<Uint8Array>; readonly isLeader: boolean }> {
    const known = this.#byKey.get(plan.key)
    const boarding = known ?? this.#board(plan)
    const { file, isLeader } = await boarding
    if (file.isClosed) throw new FlightMissed('the last reader has just left')
    const body = file.open(signal)
    try {
      await file.begun(signal)
    } catch (error) {
      await body[Symbol.asyncIterator]().return?.()
      // The client that led has had its share; whoever joined it has another.
      if (known !== undefined && isFailure(error, 'throttled')) {
        throw new FlightMissed('who led was refused', { cause: error })
      }
      throw error
    }
    return { body, isLeader: isLeader && known === undefined }
  }

  #board(plan: FlightPlan): Promise<Flight> {
    this.#counter += 1
    const id = this.#counter
    const boarding = new Promise<Flight>((resolve, reject) => {
      // In this very turn: what follows it, such as the end, may have come in the same read.
      this.#wanted.set(id, (news) => {
        try {
          resolve(news.role === 'leader' ? this.#lead(plan, news.path) : this.#follow(plan, news))
        } catch (error) {
          reject(error)
        }
      })
    })
    this.#byKey.set(plan.key, boarding)
    boarding.catch(() => this.#drop(plan.key, boarding))
    this.#link.report({ act: 'want', id, key: plan.key })
    return boarding
  }

  #lead(plan: FlightPlan, path: string): Flight {
    const report = (rest: { readonly bytes: number | undefined }) =>
      this.#link.report({ act: 'ended', path, ...rest })
    let file: GrowingFile
    try {
      file = new GrowingFile(path, 'writer')
    } catch (error) {
      report({ bytes: undefined })
      this.#link.report({ act: 'sealed', path })
      throw error
    }
    const boarding = this.#byKey.get(plan.key)
    const unwanted = new AbortController()
    let joiners = 0
    const endIfUnwanted = () => {
      if (file.readers > 0 || joiners > 0) return
      this.#drop(plan.key, boarding)
      unwanted.abort()
    }
    // Somebody may be about to join: the news of it is on its way.
    const lookSoon = () => setTimeout(endIfUnwanted, UNWANTED_GRACE_MS)
    file.onUnread = lookSoon
    const sealable = new Promise<void>((resolve) => {
      this.#watchers.set(path, (news) => {
        if (news.act === 'sealable') resolve()
        if (news.act !== 'joiners') return
        joiners = news.count
        if (joiners === 0) lookSoon()
      })
    })
    const onStarted = (groupId: number) => this.#link.report({ act: 'started', path, groupId })
    plan
      .write(file, { signal: unwanted.signal, onStarted })
      .then(
        async ({ bytes, keep }) => {
          file.end({ bytes })
          report({ bytes })
          if (keep === undefined) return unlink(path)
          // Checksums at its end would be read for answer by who still waits for the file to grow.
          await sealable
          await keep()
        },
        async (error: unknown) => {
          // Whoever comes now is not to meet what has failed.
          this.#drop(plan.key, boarding)
          const missed = new FlightMissed('nobody wanted the answer any more', { cause: error })
          file.end({ error: unwanted.signal.aborted ? missed : error })
          report({ bytes: undefined })
          await unlink(path)
        },
      )
      .catch(async (error: unknown) => {
        this.#log.warn({ error, path }, 'an answer of git was not kept')
        await rm(path, { force: true }).catch(() => {})
      })
      .finally(() => {
        this.#drop(plan.key, boarding)
        this.#watchers.delete(path)
        this.#link.report({ act: 'sealed', path })
        file.release()
      })
    return { file, isLeader: true }
  }

  #follow(plan: FlightPlan, news: Extract<FlightNews, { act: 'board' }>): Flight {
    const { path, bytes } = news
    const boarding = this.#byKey.get(plan.key)
    let file: GrowingFile
    try {
      file = new GrowingFile(path, 'reader')
    } catch (cause) {
      this.#link.report({ act: 'left', path })
      throw new FlightMissed('the answer is not there yet, or no longer', { cause })
    }
    const end = (length: number | undefined) => {
      if (length !== undefined) file.end({ bytes: length })
      else file.end({ error: new FlightMissed('the answer was not finished') })
    }
    if (bytes !== undefined) end(bytes)
    this.#watchers.set(path, (later) => {
      if (later.act !== 'ended') return
      if (later.bytes === undefined) this.#drop(plan.key, boarding)
      end(later.bytes)
      this.#link.report({ act: 'heard', path })
    })
    file.onUnread = () => {
      this.#drop(plan.key, boarding)
      this.#watchers.delete(path)
      this.#link.report({ act: 'left', path })
      file.release()
    }
    return { file, isLeader: false }
  }

  #drop(key: string, boarding: Promise<Flight> | undefined): void {
    if (this.#byKey.get(key) === boarding) this.#byKey.delete(key)
  }
}
