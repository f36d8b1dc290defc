/** Held polls: requests for tasks that wait until a job fits their runner. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Runner } from '../../sql/runners/runners.js'
import { listWaitingJobs, type WaitingJob } from '../../sql/runs/run-jobs.js'
import type { Context } from '../request/context.js'
import { type Claim, claimJob, fitsJob, type Offer, offerOf } from '../runs/claim-job.js'

/** Interval at which the waiting jobs are read while polls are held. */
const LOOK_EVERY_MS = 250

/** Number of jobs per query, and maximum number of jobs that a look compares with the polls. */
const PAGE = 200
const JOBS_MAX = 2_000

interface Poll {
  readonly runner: Runner
  readonly offer: Offer
  readonly settle: (claim: Claim | undefined) => void
}

export interface PollOptions {
  readonly runner: Runner
  /** Aborted when the runner disconnects. */
  readonly signal: AbortSignal
  readonly holdMs: number
}

/** The held polls of one worker. All of them share the reading of the waiting jobs. */
class WaitingBoard {
  readonly #context: Context
  readonly #polls = new Set<Poll>()
  #looking: Promise<void> | undefined
  #isTicking = false
  /** Id of the last job of the last look; 0 if that has seen all jobs. */
  #seenId = 0

  constructor(context: Context) {
    this.#context = context
  }

  /** Waits for a job that fits the runner and claims it; undefined if the time ends before. */
  async claim({ runner, signal, holdMs }: PollOptions): Promise<Claim | undefined> {
    let settle: Poll['settle'] = () => {}
    const settled = new Promise<Claim | undefined>((resolve) => {
      settle = resolve
    })
    const poll: Poll = { runner, offer: offerOf(runner), settle }
    const end = () => {
      if (this.#polls.delete(poll)) settle(undefined)
    }
    this.#polls.add(poll)
    signal.addEventListener('abort', end, { once: true })
    if (signal.aborted) end()
    let timer: NodeJS.Timeout | undefined
    try {
      // The poll may have come after a look had read the jobs.
      await this.#looking?.catch(() => {})
      await this.#look()
      timer = setTimeout(end, holdMs)
      void this.#tick()
      return await settled
    } catch (error) {
      // A poll that is no longer on the board has got its job, or will.
      if (this.#polls.delete(poll)) throw error
      return await settled
    } finally {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
    }
  }

  /** Looks for jobs at an interval while polls are held. */
  async #tick(): Promise<void> {
    if (this.#isTicking) return
    this.#isTicking = true
    while (this.#polls.size > 0) {
      await sleep(LOOK_EVERY_MS)
      await this.#look().catch((error: unknown) => this.#fail(error))
    }
    this.#isTicking = false
  }

  /** Ends all polls without a job: the runners ask again. */
  #fail(error: unknown): void {
    this.#context.log.warn({ error }, 'the jobs that wait for runners cannot be read')
    for (const poll of [...this.#polls]) {
      this.#polls.delete(poll)
      poll.settle(undefined)
    }
  }

  /** Gives waiting jobs to polls that fit; concurrent calls share one look. */
  #look(): Promise<void> {
    this.#looking ??= this.#match().finally(() => {
      this.#looking = undefined
    })
    return this.#looking
  }

  /**
   * Compares waiting jobs with the polls, oldest first. If there are more jobs than one look
   * compares, the next look begins behind them, so that jobs that no runner takes do not keep
   * others waiting.
   */
  async #match(): Promise<void> {
    const misfits = new Set<string>()
    if (this.#polls.size === 0) return
    for (let seen = 0; seen < JOBS_MAX; seen += PAGE) {
      const page = { afterId: this.#seenId, limit: PAGE }
      const jobs = await listWaitingJobs(this.#context.db, page)
      for (const job of jobs) await this.#give(job, misfits)
      const isEnd = jobs.length < PAGE || this.#polls.size === 0
      this.#seenId = isEnd ? 0 : (jobs.at(-1)?.id ?? 0)
      if (isEnd) return
    }
  }

  /** Gives a job to a poll that fits. `misfits` has the jobs of this look that fit none. */
  async #give(job: WaitingJob, misfits: Set<string>): Promise<void> {
    const kind = [job.repositoryId, job.isUntrusted, ...job.labels].join('\n')
    if (misfits.has(kind)) return
    const poll = [...this.#polls].find(({ offer }) => fitsJob(offer, job))
    if (poll === undefined) {
      misfits.add(kind)
      return
    }
    // While it claims, the poll can neither end nor get another job.
    this.#polls.delete(poll)
    try {
      const claim = await claimJob(this.#context, poll.runner, job)
      if (claim === undefined) this.#polls.add(poll)
      else poll.settle(claim)
    } catch (error) {
      poll.settle(undefined)
      throw error
    }
  }
}

const boards = new WeakMap<Context, WaitingBoard>()

/** Waits for a job that fits a runner, and claims it. */
export function waitForJob(context: Context, options: PollOptions): Promise<Claim | undefined> {
  let board = boards.get(context)
  if (board === undefined) {
    board = new WaitingBoard(context)
    boards.set(context, board)
  }
  return board.claim(options)
}
