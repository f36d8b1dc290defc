/** Execution of the database's jobs, with limits per process and per machine. */

import { hostname } from 'node:os'
import {
  enqueueJob,
  finishJob,
  JOB_ATTEMPTS_MAX,
  type Job,
  leaseJob,
  postponeJob,
  releaseJob,
  renewLease,
  type Worker,
} from '../../sql/admin/jobs.js'
import type { JobContext, JobKind } from './job.js'

export interface JobRunner {
  start(): void
  /** Polls for due jobs after this time, unless a poll is scheduled sooner. */
  pollIn(ms: number): void
  /** Aborts the running jobs and releases their leases. */
  stop(): Promise<void>
}

/** Interval of polls for jobs that other processes have enqueued. */
const POLL_MS = 5_000

/** Time after which another process takes over the jobs of one that died. */
const LEASE_MS = 30_000
const RENEWALS = 4

export interface JobRunnerOptions {
  readonly kinds: readonly JobKind[]
  readonly leaseMs?: number
  /** Kinds to run; if absent, all kinds. A job of a kind that is not in `kinds` fails. */
  readonly takes?: Worker['kinds']
  /** Name of the runner; the limit per machine is separate for each name. */
  readonly name?: string
  /** Maximum number of concurrent jobs per machine; by default that of `maintenance`. */
  readonly jobsMax?: number
  /** Maximum number of concurrent jobs in this process; 1 by default. */
  readonly concurrencyMax?: number
}

/** Creates a runner of these kinds. It must be started. */
export function createJobRunner(context: JobContext, options: JobRunnerOptions): JobRunner {
  const { kinds, leaseMs = LEASE_MS, concurrencyMax = 1 } = options
  const { db, log } = context
  const worker = workerOf(context, { ...options, leaseMs })
  const stopping = new AbortController()
  const { signal } = stopping
  let isStarted = false
  let isUnavailable = false
  let timer: NodeJS.Timeout | undefined
  let nextPollMs = Number.POSITIVE_INFINITY
  let polling = Promise.resolve()
  const running = new Set<Promise<void>>()

  function pollIn(ms: number): void {
    const pollMs = Date.now() + ms
    if (!isStarted || signal.aborted || pollMs >= nextPollMs) return
    clearTimeout(timer)
    nextPollMs = pollMs
    timer = setTimeout(() => {
      nextPollMs = Number.POSITIVE_INFINITY
      polling = polling.then(poll)
    }, ms).unref()
  }

  async function poll(): Promise<void> {
    try {
      while (!signal.aborted && running.size < concurrencyMax) {
        const job = await leaseDue(context, worker, kinds)
        isUnavailable = false
        if (job === undefined) break
        start(job)
      }
    } catch (error) {
      logUnavailable(error)
    }
    pollIn(POLL_MS)
  }

  function start(job: Job): void {
    const run = runJob(context, job, { kinds, leaseMs, stopping: signal })
      .then(() => 0)
      .catch((error: unknown) => {
        logUnavailable(error)
        return POLL_MS
      })
      .then((pauseMs) => {
        running.delete(run)
        pollIn(pauseMs)
      })
    running.add(run)
  }

  function logUnavailable(error: unknown): void {
    if (!isUnavailable) log.warn({ error }, 'the job queue is unavailable')
    isUnavailable = true
  }

  async function enqueuePeriodic(): Promise<void> {
    const { delayMs } = context.settings.maintenance
    try {
      for (const { kind, everyMs } of kinds) {
        if (everyMs !== undefined) await enqueueJob(db, { kind, subject: 'all', delayMs })
      }
    } catch (error) {
      log.warn({ error }, 'the periodic jobs were not enqueued')
    }
  }

  return {
    pollIn,
    start() {
      isStarted = true
      polling = enqueuePeriodic()
      pollIn(POLL_MS)
    },
    async stop() {
      stopping.abort()
      clearTimeout(timer)
      await polling
      await Promise.all(running)
    },
  }
}

function workerOf(
  { settings }: JobContext,
  {
    takes,
    name,
    jobsMax = settings.maintenance.jobsMax,
    leaseMs,
  }: JobRunnerOptions & { readonly leaseMs: number },
): Worker {
  const machine = name === undefined ? hostname() : `${hostname()}/${name}`
  return { machine, jobsMax, leaseMs, ...(takes === undefined ? {} : { kinds: takes }) }
}

/** Leases a job that is due; while the disk is full, none that stores data. */
async function leaseDue(
  { db, disk }: JobContext,
  worker: Worker,
  kinds: readonly JobKind[],
): Promise<Job | undefined> {
  const { refusal } = await disk.state()
  if (refusal === undefined) return await leaseJob(db, worker)
  const takes = withoutStoring(worker.kinds, kinds)
  return await leaseJob(db, { ...worker, kinds: takes })
}

/** Returns the kinds that a runner takes, without those that store data. */
function withoutStoring(
  takes: Worker['kinds'],
  kinds: readonly JobKind[],
): NonNullable<Worker['kinds']> {
  const storing = kinds.filter(({ storesData }) => storesData === true).map(({ kind }) => kind)
  if (takes !== undefined && 'of' in takes) {
    return { of: takes.of.filter((kind) => !storing.includes(kind)) }
  }
  return { without: [...(takes?.without ?? []), ...storing] }
}

interface RunOptions extends Required<Pick<JobRunnerOptions, 'kinds' | 'leaseMs'>> {
  readonly stopping: AbortSignal
}

async function runJob(
  context: JobContext,
  job: Job,
  { kinds, leaseMs, stopping }: RunOptions,
): Promise<void> {
  const { db, log } = context
  const about = { job: job.kind, subject: job.subject, attempts: job.attempts }
  const holding = holdLease(context, job, leaseMs)
  const kind = kinds.find((each) => each.kind === job.kind)
  const enqueueNext = async () => {
    if (kind?.everyMs !== undefined) await enqueueJob(db, { ...job, delayMs: kind.everyMs })
  }
  try {
    if (kind === undefined) throw new Error('this version of the gateway has no such kind of job')
    // A job that crashes its process neither finishes nor fails, and must not be retried forever.
    if (job.attempts > JOB_ATTEMPTS_MAX) throw new Error('every attempt was interrupted')
    await kind.run(context, job.subject, AbortSignal.any([stopping, holding.lost]))
    if (stopping.aborted) return await releaseJob(db, job)
    await enqueueNext()
    await finishJob(db, job)
  } catch (error) {
    if (stopping.aborted) return await releaseJob(db, job)
    if (holding.lost.aborted) return log.warn(about, 'the lease of a job was lost')
    await enqueueNext()
    const reason = error instanceof Error ? error.message : String(error)
    if (await postponeJob(db, job, reason))
      log.warn({ ...about, error }, 'a job failed and will be retried')
    else log.error({ ...about, error }, 'a job was given up')
  } finally {
    holding.end()
  }
}

interface Holding {
  /** Aborted when another process may have leased the job. */
  readonly lost: AbortSignal
  end(): void
}

/** Renews the lease while the job runs. A renewal that fails does not abort the job. */
function holdLease({ db, log }: JobContext, job: Job, leaseMs: number): Holding {
  const losing = new AbortController()
  const renew = async () => {
    try {
      if (!(await renewLease(db, job, leaseMs))) losing.abort()
    } catch (error) {
      log.warn({ error }, 'the lease of a job was not renewed')
    }
  }
  const timer = setInterval(() => void renew(), leaseMs / RENEWALS).unref()
  return { lost: losing.signal, end: () => clearInterval(timer) }
}
