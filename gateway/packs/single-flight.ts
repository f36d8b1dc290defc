/** Single flight: concurrent requests with the same answer share one git process. */

import { unlinkSync } from 'node:fs'
import { rm, unlink } from 'node:fs/promises'
import { isFailure } from '../../conf/failures.js'
import type { Log } from '../../conf/log.js'
import { followLease, isFollowed, markComplete, takeLease, untilComplete } from './answer-lease.js'
import { GrowingFile } from './growing-file.js'
import type { SingleFlightNotice, SingleFlightReport } from './single-flight-coordinator.js'

/** A repository that was pushed to. */
export interface PushedRepository {
  /** Absolute path of the bare repository. */
  readonly repositoryPath: string
  /** Size on the disk, before the push. */
  readonly repositoryBytes: number
}

/** The connection of a worker to the coordinator and, through it, to the other workers. */
export interface CoordinatorLink {
  /** Announces a push to the other workers. */
  announce(pushed: PushedRepository): void
  /** Sets the receiver of their announcements. Must be called once. */
  hear(take: (pushed: PushedRepository) => void): void
  report(report: SingleFlightReport): void
  /** Sets the receiver of notices. Must be called once. */
  listen(take: (notification: SingleFlightNotice) => void): void
}

/** A complete answer. */
export interface SingleFlightEnd {
  readonly bytes: number
  /** Gives the file its final name. If absent, the file is removed. */
  readonly keep?: () => Promise<void>
}

/** Instructions for making an answer; the first worker to want it follows them. */
export interface SingleFlightPlan {
  /** Key of letters and digits, equal for requests with the same answer. */
  readonly key: string
  /**
   * Writes the whole answer into an open file. Throws if it cannot be completed. The signal aborts
   * when no reader is left.
   */
  readonly write: (
    file: GrowingFile,
    options: { readonly signal: AbortSignal; readonly onStarted: (groupId: number) => void },
  ) => Promise<SingleFlightEnd>
}

/** The in-flight answer ended before this reader could follow it; the caller tries again. */
export class SingleFlightMissed extends Error {
  override readonly name = 'SingleFlightMissed'
}

/** Time that git goes on without a reader; its process group must end within a second. */
const UNWANTED_GRACE_MS = 250

/** Number of times that a lease is tried before an answer is made without one. */
const LEASE_TRIES = 3

interface InFlightAnswer {
  readonly file: GrowingFile
  readonly isLeader: boolean
}

export class SingleFlight {
  readonly #link: Pick<CoordinatorLink, 'report' | 'listen'>
  readonly #log: Log
  readonly #byKey = new Map<string, Promise<InFlightAnswer>>()
  readonly #wanted = new Map<
    number,
    (notification: Extract<SingleFlightNotice, { act: 'board' }>) => void
  >()
  /** Receivers of notices about an in-flight answer, by its path. */
  readonly #watchers = new Map<string, (notification: SingleFlightNotice) => void>()
  #counter = 0

  constructor(link: Pick<CoordinatorLink, 'report' | 'listen'>, log: Log) {
    this.#link = link
    this.#log = log
    link.listen((notification) => {
      if (notification.act === 'board') {
        this.#wanted.get(notification.id)?.(notification)
        this.#wanted.delete(notification.id)
      } else {
        this.#watchers.get(notification.path)?.(notification)
      }
    })
  }

  /**
   * Returns the answer from its first byte on, while it is being made. If nothing was written,
   * throws the error of the plan, SingleFlightMissed, or an error of the file system.
   */
  async join(
    plan: SingleFlightPlan,
    signal: AbortSignal,
  ): Promise<{ readonly body: AsyncIterable<Uint8Array>; readonly isLeader: boolean }> {
    const known = this.#byKey.get(plan.key)
    const boarding = known ?? this.#board(plan)
    const { file, isLeader } = await boarding
    if (file.isClosed) throw new SingleFlightMissed('the last reader has just left')
    const body = file.open(signal)
    try {
      await file.begun(signal)
    } catch (error) {
      await body[Symbol.asyncIterator]().return?.()
      // The client that led has used up its share of the queue; a follower has a share of its own.
      if (known !== undefined && isFailure(error, 'throttled')) {
        throw new SingleFlightMissed('who led was refused', { cause: error })
      }
      throw error
    }
    return { body, isLeader: isLeader && known === undefined }
  }

  #board(plan: SingleFlightPlan): Promise<InFlightAnswer> {
    this.#counter += 1
    const id = this.#counter
    const boarding = new Promise<InFlightAnswer>((resolve, reject) => {
      // Synchronously, because the next notice, such as the end, may be in the same read.
      this.#wanted.set(id, (notification) => {
        try {
          resolve(
            notification.role === 'leader'
              ? this.#leadHere(plan, notification.path)
              : this.#follow(plan, notification),
          )
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

  /** Leads the workers of this gateway: makes the answer, or follows another gateway's. */
  #leadHere(plan: SingleFlightPlan, path: string): InFlightAnswer {
    try {
      return this.#lead(plan, openShared(path))
    } catch (error) {
      this.#link.report({ act: 'ended', path, bytes: undefined })
      this.#link.report({ act: 'moved', path })
      throw error
    }
  }

  #lead(plan: SingleFlightPlan, { file, leading, release }: SharedFile): InFlightAnswer {
    const { path } = file
    const report = (rest: { readonly bytes: number | undefined }) =>
      this.#link.report({ act: 'ended', path, ...rest })
    const boarding = this.#byKey.get(plan.key)
    const unwanted = new AbortController()
    let isEnded = false
    let followers = 0
    const endIfUnwanted = () => {
      if (isEnded || file.readers > 0 || followers > 0) return
      if (leading === undefined && isFollowed(file.file)) {
        lookSoon()
        return
      }
      this.#drop(plan.key, boarding)
      release()
      unwanted.abort()
    }
    // The notice of a new follower may be on its way.
    const lookSoon = () => setTimeout(endIfUnwanted, UNWANTED_GRACE_MS)
    file.onUnread = lookSoon
    this.#watchers.set(path, (notification) => {
      if (notification.act !== 'joiners') return
      followers = notification.count
      if (followers === 0) lookSoon()
    })
    const onStarted = (groupId: number) => this.#link.report({ act: 'started', path, groupId })
    const making =
      leading === undefined
        ? plan.write(file, { signal: unwanted.signal, onStarted })
        : follow(file, leading, unwanted.signal)
    making
      .then(
        async ({ bytes, keep }) => {
          isEnded = true
          file.end({ bytes })
          report({ bytes })
          if (leading === undefined) markComplete(file.file)
          if (keep === undefined) await unlink(path)
          else await keep()
        },
        async (error: unknown) => {
          isEnded = true
          // Later requests must not get the failed answer.
          this.#drop(plan.key, boarding)
          release()
          const missed = new SingleFlightMissed('all readers left before the answer was complete', {
            cause: error,
          })
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
        release()
        this.#watchers.delete(path)
        this.#link.report({ act: 'moved', path })
        file.release()
      })
    return { file, isLeader: leading === undefined }
  }

  #follow(
    plan: SingleFlightPlan,
    notification: Extract<SingleFlightNotice, { act: 'board' }>,
  ): InFlightAnswer {
    const { path, bytes } = notification
    const boarding = this.#byKey.get(plan.key)
    let file: GrowingFile
    try {
      file = new GrowingFile(path, 'reader')
    } catch (cause) {
      this.#link.report({ act: 'left', path })
      throw new SingleFlightMissed('the file of the answer does not exist yet or any more', {
        cause,
      })
    }
    const end = (length: number | undefined) => {
      if (length !== undefined) file.end({ bytes: length })
      else file.end({ error: new SingleFlightMissed('the answer was not finished') })
    }
    if (bytes !== undefined) end(bytes)
    this.#watchers.set(path, (later) => {
      if (later.act !== 'ended') return
      if (later.bytes === undefined) this.#drop(plan.key, boarding)
      end(later.bytes)
    })
    file.onUnread = () => {
      this.#drop(plan.key, boarding)
      this.#watchers.delete(path)
      this.#link.report({ act: 'left', path })
      file.release()
    }
    return { file, isLeader: false }
  }

  #drop(key: string, boarding: Promise<InFlightAnswer> | undefined): void {
    if (this.#byKey.get(key) === boarding) this.#byKey.delete(key)
  }
}

/** File of an answer that this gateway makes, or that another one makes. */
interface SharedFile {
  readonly file: GrowingFile
  /** Name of the file in the gateway that makes the answer; undefined if it is this one. */
  readonly leading: string | undefined
  /** Releases the lease of this gateway, if it has one. */
  readonly release: () => void
}

/** Opens the answer that another gateway makes, or a new file with the lease for the answer. */
function openShared(path: string): SharedFile {
  for (let tries = 1; ; tries += 1) {
    const leading = followLease(path)
    if (leading !== undefined) {
      return { file: new GrowingFile(path, 'reader'), leading, release: () => {} }
    }
    // The file exists before its lease, so a lease without a file is one of a dead leader.
    const file = new GrowingFile(path, 'writer')
    const release = takeLease(path)
    if (release !== undefined) return { file, leading, release }
    if (tries === LEASE_TRIES) return { file, leading, release: () => {} }
    file.release()
    unlinkSync(path)
  }
}

/** Waits until another gateway has made the answer. Throws SingleFlightMissed if it does not. */
async function follow(
  file: GrowingFile,
  leading: string,
  signal: AbortSignal,
): Promise<SingleFlightEnd> {
  const bytes = await untilComplete(file, leading, signal)
  if (bytes === undefined) throw new SingleFlightMissed('another gateway did not finish the answer')
  return { bytes }
}
