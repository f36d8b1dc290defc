/** The supervisor's workers: started, replaced when they die, renewed by a reload, stopped. */

import cluster, { type Worker } from 'node:cluster'
import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { recover } from '../cgi/maintenance/recovery.js'
import { endProcessGroup } from '../cgi/process/process-group.js'
import type { Log } from '../conf/log.js'
import type { Settings } from '../conf/settings.js'
import { closeDatabase, openDatabase } from '../sql/database/database.js'
import { sweepImports } from './actions/repositories/sweep-imports.js'
import { untilOthersListen } from './http/port-listeners.js'
import { isWorkerMessage, PROTOCOL, type SupervisorMessage } from './messages.js'
import { releaseLease } from './packs/answer-lease.js'
import {
  SingleFlightCoordinator,
  type SingleFlightReport,
} from './packs/single-flight-coordinator.js'
import { packFolder } from './packs/warm.js'
import { collectFromWorkers } from './request/metrics.js'

/** Maximum size of request line and headers (RFC 9110 §5.4). */
const HEADERS_BYTES_MAX = 16_384

/** Pause before a dead worker is replaced. */
const RESTART_PAUSE_MS = 1_000
/** Time after their deadline at which workers that still run are killed. */
const STOP_SLACK_MS = 2_000
/** Time for idle connections to close: uWebSockets.js closes one after 10 to 12 idle seconds. */
const IDLE_MS = 15_000

/** The workers of this process; created once per process, because `cluster` is global. */
export class Fleet {
  /** Settles when all workers have ended after a stop. */
  readonly ended: Promise<void>
  readonly #log: Log
  readonly #coordinator: Coordinator
  /** Workers that have received a stop message from a renewal. */
  readonly #retired = new Set<Worker>()
  /** Workers of a start or renewal that is not complete. */
  readonly #fresh = new Set<Worker>()
  #settings: Settings
  #isStarted = false
  #isStopping = false
  #end = () => {}

  constructor(settings: Settings, log: Log) {
    // The supervisor is idle most of the time, and the memory reducer would run each time.
    setFlagsFromString(NO_REDUCER)
    this.#settings = settings
    this.#log = log
    this.#coordinator = openCoordinator(settings, log)
    this.ended = new Promise((resolve) => {
      this.#end = resolve
    })
    answerMessages(this.#coordinator, log)
    cluster.on('exit', (worker, code, signal) => this.#exited(worker, { code, signal }))
  }

  /**
   * Starts the workers. Returns true when every worker listens, or false if `stop` was called
   * before. Stops the other workers and throws if one does not start.
   */
  async start(): Promise<boolean> {
    try {
      await this.#fork(this.#settings)
      this.#isStarted = true
      return true
    } catch (error) {
      if (this.#isStopping) return false
      this.stop()
      throw error
    } finally {
      this.#fresh.clear()
    }
  }

  /**
   * Starts workers with the program that is installed now and the given settings. When all of them
   * listen, the earlier workers accept no more connections and exit after their last request. If a
   * new worker does not start, throws and keeps the earlier workers.
   */
  async renew(settings: Settings): Promise<void> {
    if (!this.#isStarted || this.#isStopping) return
    const earlier = this.#serving()
    try {
      await this.#fork(settings)
    } catch (error) {
      for (const worker of this.#fresh) this.#retire(worker)
      throw error
    } finally {
      this.#fresh.clear()
    }
    this.#settings = settings
    for (const worker of earlier) this.#retire(worker)
  }

  /** Stops all workers. If hurried, idle connections are closed without waiting. */
  stop({ isHurried }: { readonly isHurried: boolean } = { isHurried: false }): void {
    if (this.#isStopping) return
    this.#isStopping = true
    this.#log.info('stopping')
    const { drainMs, shutdownGraceMs: graceMs, listen } = this.#settings.http
    const openMs = isHurried ? 0 : drainMs
    const port = listen[0]?.port ?? 0
    const sharing = listen.filter((address) => address.port === port)
    const ownCount = this.#serving().length * sharing.length
    const notifyAll = (hasSuccessor: boolean) => {
      const times = { acceptMs: openMs, lingerMs: openMs, graceMs, hasSuccessor }
      for (const worker of liveWorkers()) send(worker, { kind: 'stop', times })
    }
    notifyAll(false)
    // A worker that does not listen yet has no requests to finish.
    for (const worker of this.#fresh) worker.process.kill('SIGTERM')
    untilOthersListen(port, { ownCount, withinMs: openMs })
      .then((isThere) => isThere && notifyAll(true))
      .catch((error: unknown) => this.#log.warn({ error }, 'the check for a successor failed'))
    const kill = () => {
      for (const worker of liveWorkers()) worker.process.kill('SIGKILL')
    }
    setTimeout(kill, 2 * openMs + graceMs + STOP_SLACK_MS).unref()
    if (liveWorkers().length === 0) this.#end()
  }

  async #fork({ http }: Settings): Promise<void> {
    const workers = Array.from({ length: http.workers }, forkWorker)
    for (const worker of workers) this.#fresh.add(worker)
    await Promise.all(workers.map(untilListening))
  }

  #serving(): readonly Worker[] {
    return liveWorkers().filter((worker) => !this.#retired.has(worker))
  }

  /** Stops a worker with generous timeouts: new connections already go to other workers. */
  #retire(worker: Worker): void {
    this.#retired.add(worker)
    const graceMs = this.#settings.git.timeoutMs
    const times = { acceptMs: 0, lingerMs: IDLE_MS, graceMs, hasSuccessor: true }
    send(worker, { kind: 'stop', times })
  }

  #exited(worker: Worker, { code, signal }: { code: number; signal: string | null }): void {
    this.#coordinator.lose(worker.id)
    const wasRetired = this.#retired.delete(worker)
    if (this.#isStopping || !this.#isStarted) {
      if (liveWorkers().length === 0) this.#end()
      return
    }
    if (this.#fresh.has(worker) || (wasRetired && !signal)) return
    this.#log.error({ pid: worker.process.pid, code, signal }, 'a worker died and is replaced')
    void recoverAfterWorkerDeath(this.#settings, this.#log).then(() => {
      const isMissing = this.#serving().length < this.#settings.http.workers
      if (!isMissing || this.#isStopping) return
      untilListening(forkWorker()).catch((error: unknown) =>
        this.#log.error({ error }, 'the new worker did not start'),
      )
    })
  }
}

/** Returns the workers that run. `cluster.workers` lists a dead one until its channel closes. */
function liveWorkers(): readonly Worker[] {
  return Object.values(cluster.workers ?? {}).flatMap((worker) =>
    worker === undefined || worker.isDead() ? [] : [worker],
  )
}

/** Sends a message, unless the worker's channel is closed: such a worker stops by itself. */
function send(worker: Worker, message: SupervisorMessage): void {
  if (worker.isConnected()) worker.send(message)
}

function answerMessages(coordinator: Coordinator, log: Log): void {
  const collectMetrics = collectFromWorkers()
  cluster.on('message', (worker, message: unknown) => {
    if (!isWorkerMessage(message)) return
    if (message.kind === 'flight') coordinator.take(worker.id, message.report)
    if (message.kind === 'pushed') {
      for (const other of liveWorkers()) if (other !== worker) send(other, message)
    }
    if (message.kind !== 'metrics-wanted') return
    collectMetrics()
      .then((text) => send(worker, { kind: 'metrics', id: message.id, text }))
      .catch((error: unknown) => log.warn({ error }, 'the workers did not report their metrics'))
  })
}

type Coordinator = ReturnType<typeof openCoordinator>

/**
 * Creates the single-flight coordinator of the workers. If a worker dies, `lose` removes its
 * unfinished answers and ends the git processes that write them.
 */
function openCoordinator(settings: Settings, log: Log) {
  const coordinator = new SingleFlightCoordinator(
    { folder: packFolder(settings.cache.dir), name: randomUUID() },
    (member, notification) => {
      const worker = cluster.workers?.[member]
      if (worker !== undefined) send(worker, { kind: 'flight', notification })
    },
  )
  return {
    take: (member: number, report: SingleFlightReport) => coordinator.take(member, report),
    lose(member: number) {
      for (const { path, groupId } of coordinator.lose(member)) {
        releaseLease(path)
        Promise.all([
          rm(path, { force: true }),
          groupId === undefined ? undefined : endProcessGroup(groupId),
        ]).catch((error: unknown) =>
          log.warn({ error, path }, 'an answer of a dead worker was not removed'),
        )
      }
    },
  }
}

async function recoverAfterWorkerDeath(settings: Settings, log: Log): Promise<void> {
  try {
    await recover(settings.data.dir, log)
    const db = await openDatabase(settings.database)
    await sweepImports(db, settings.data.dir).finally(() => closeDatabase(db))
  } catch (error) {
    log.error({ error }, 'the crash recovery after a worker died failed')
  }
  await sleep(RESTART_PAUSE_MS)
}

/**
 * V8 grows the young generation to three semi-spaces of 16 MiB while bodies stream, by default.
 * With semi-spaces of 4 MiB, small answers spend more time on garbage collection. The memory
 * reducer collects again whenever a worker becomes idle, to free a few MiB. That takes a fifth of
 * the CPU time that a worker itself spends on a clone that misses the pack cache. By default, the
 * old generation grows to four times its live objects before V8 collects it, and without the
 * reducer V8 keeps the freed pages. Collecting after growth by a half took 153 MiB less for 100,000
 * stored answers, in the same CPU time.
 */
const NO_REDUCER = '--no-memory-reducer'
const V8_OPTIONS = ['--max-semi-space-size=8', '--heap-growing-percent=50', NO_REDUCER]

function forkWorker(): Worker {
  // Workers accept connections for SSH themselves. If the supervisor accepted and passed them on,
  // each connection would wake two processes.
  cluster.schedulingPolicy = cluster.SCHED_NONE
  cluster.setupPrimary({
    execArgv: [...process.execArgv, ...V8_OPTIONS],
  })
  const worker = cluster.fork({
    UWS_HTTP_MAX_HEADERS_SIZE: String(HEADERS_BYTES_MAX),
    // Buffers of a stream are freed on other threads than they are allocated on. With one malloc
    // arena per thread, the freed memory could not be reused for the next buffer.
    MALLOC_ARENA_MAX: '1',
  })
  // A message to a worker that has just ended fails with this event; `exit` handles the end.
  worker.on('error', () => {})
  return worker
}

function untilListening(worker: Worker): Promise<void> {
  return new Promise((resolve, reject) => {
    worker.on('message', (message: unknown) => {
      if (!isWorkerMessage(message)) return
      if (message.kind === 'listening' && message.protocol === PROTOCOL) resolve()
      if (message.kind === 'listening')
        reject(new Error('the new program needs a restart of the server'))
      if (message.kind === 'failed') reject(new Error(message.reason))
    })
    worker.on('exit', (code, signal) => {
      reject(new Error(`a worker ended before it listened (${signal ?? code})`))
    })
  })
}
