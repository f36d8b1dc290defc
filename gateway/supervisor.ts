/** The supervisor: prepares the data, starts the workers, replaces the dead, and stops them all. */

import cluster, { type Worker } from 'node:cluster'
import { mkdir, rm } from 'node:fs/promises'
import { isatty } from 'node:tty'
import { setFlagsFromString } from 'node:v8'
import { RateLimiterClusterMaster } from 'rate-limiter-flexible'
import { endProcessGroup } from '../cgi/process-group.js'
import { recover } from '../cgi/recovery.js'
import { HEADERS_BYTES_MAX } from '../conf/limits.js'
import { createLog, type Log } from '../conf/log.js'
import type { Settings } from '../conf/settings.js'
import { closeDatabase, type Database, openDatabase } from '../sql/database.js'
import { migrate } from '../sql/migrate.js'
import { hasUsers } from '../sql/site.js'
import { sweepImports } from './actions/sweep-imports.js'
import { renewSetUpCode } from './auth/set-up.js'
import { isWorkerMessage, type SupervisorMessage } from './messages.js'
import { collectFromWorkers } from './metrics.js'
import { FlightBoard, type FlightReport } from './packs/flight-board.js'
import { packFolder } from './packs/warm.js'
import { prepareSocket } from './ssh/socket-file.js'

const STDOUT = 1
const STDERR = 2
/** A worker that dies sooner is started again only after this pause. */
const RESTART_PAUSE_MS = 1_000
/** After the grace, what still runs is not waited for any longer. */
const STOP_SLACK_MS = 2_000

/**
 * Serves until SIGTERM or SIGINT, or until its terminal is closed; resolves when all workers have
 * ended. Throws, with a sentence for the person who started it, when the first workers cannot
 * start.
 */
export async function superviseWorkers(
  settings: Settings,
  greet: (text: string) => void,
): Promise<void> {
  const log = createLog(settings.log)
  const setUpCode = await prepareData(settings, log)
  new RateLimiterClusterMaster()
  const fleet = createFleet(settings, log)
  process.on('SIGTERM', fleet.stop)
  process.on('SIGINT', fleet.stop)
  const isOnTerminal = isatty(STDERR)
  // The kernel sends SIGHUP as well when the terminal of a server is closed.
  process.on('SIGHUP', () => (isOnTerminal && !isatty(STDERR) ? fleet.stop() : fleet.reload()))
  if (await fleet.start()) {
    log.info({ url: settings.http.baseUrl, workers: settings.http.workers }, 'serving')
    if (setUpCode !== undefined) {
      welcome(settings, { log, greet, setUpCode })
    }
  }
  await fleet.ended
}

interface WelcomeOptions {
  readonly log: Log
  readonly greet: (text: string) => void
  readonly setUpCode: string
}

/**
 * Says how to create the first account. The address with its code is shown once: by the greeting
 * if that is on a terminal, otherwise by the log.
 */
function welcome(settings: Settings, { log, greet, setUpCode }: WelcomeOptions): void {
  const { isEnabled } = settings.web
  const url = isEnabled ? `${settings.http.baseUrl}/setup?code=${setUpCode}` : undefined
  const isTerminal = isatty(STDOUT)
  if (url !== undefined && !isTerminal) {
    log.info({ url }, 'the first account is made at this address')
  }
  const text = isTerminal ? greetingOnTerminal(settings, url) : greeting(settings)
  // On a terminal, the lines of the start come before the greeting.
  log.flush(() => greet(text))
}

/** Migrates, mends what a crash left of pushes; gives a code where there is no account yet. */
async function prepareData(settings: Settings, log: Log): Promise<string | undefined> {
  const { dir } = settings.data
  await mkdir(dir, { recursive: true, mode: 0o750 })
  await prepareSocket(settings.ssh.socket)
  const db = await openDatabase(settings.database)
  try {
    await migrateDatabase(db, log)
    await recover(dir)
    await sweepImports(db, dir)
    return (await hasUsers(db)) ? undefined : await renewSetUpCode(dir)
  } finally {
    await closeDatabase(db)
  }
}

/** Applies the missing migrations: one line of the log, and one for each of them at level debug. */
async function migrateDatabase(db: Database, log: Log): Promise<void> {
  const startedAtMs = Date.now()
  const names = await migrate(db)
  if (names.length === 0) return
  const durationMs = Date.now() - startedAtMs
  for (const name of names) log.debug({ migration: name }, 'a migration was applied')
  log.info(
    { migrations: names.length, first: names[0], last: names.at(-1), durationMs },
    'the database was migrated',
  )
}

interface Fleet {
  /** Resolves with true when every worker listens, with false when it was stopped before. */
  start(): Promise<boolean>
  stop(): void
  reload(): void
  readonly ended: Promise<void>
}

function createFleet(settings: Settings, log: Log): Fleet {
  // The supervisor rests nearly always.
  setFlagsFromString(NO_REDUCER)
  const collectMetrics = collectFromWorkers()
  let end = () => {}
  const ended = new Promise<void>((resolve) => {
    end = resolve
  })
  const state = { isStopping: false, isStarted: false }
  const board = openBoard(settings, log)
  // One whose channel closes later than it ends is listed until then.
  const isOver = () => Object.values(cluster.workers ?? {}).every((worker) => worker?.isDead())
  const workersDo = (act: (worker: Worker) => void) => {
    for (const worker of Object.values(cluster.workers ?? {})) if (worker) act(worker)
  }

  const stop = () => {
    if (state.isStopping) return
    state.isStopping = true
    log.info('stopping')
    workersDo((worker) => worker.process.kill('SIGTERM'))
    setTimeout(
      () => workersDo((worker) => worker.process.kill('SIGKILL')),
      settings.http.shutdownGraceMs + STOP_SLACK_MS,
    ).unref()
    if (isOver()) end()
  }

  cluster.on('exit', (worker, code, signal) => {
    board.lose(worker.id)
    if (state.isStopping || !state.isStarted) {
      if (isOver()) end()
      return
    }
    log.error({ pid: worker.process.pid, code, signal }, 'a worker died and is replaced')
    void replace(settings, log, () => state.isStopping)
  })
  cluster.on('message', (worker, message: unknown) => {
    if (!isWorkerMessage(message)) return
    if (message.kind === 'flight') board.take(worker.id, message.report)
    if (message.kind !== 'metrics-wanted') return
    collectMetrics()
      .then((text) => {
        const answer: SupervisorMessage = { kind: 'metrics', id: message.id, text }
        worker.send(answer)
      })
      .catch((error: unknown) => log.warn({ error }, 'the metrics of the workers were not had'))
  })

  return {
    ended,
    stop,
    reload: () => workersDo((worker) => worker.process.kill('SIGHUP')),
    async start() {
      const workers = Array.from({ length: settings.http.workers }, forkWorker)
      try {
        await Promise.all(workers.map(untilListening))
        state.isStarted = true
        return true
      } catch (error) {
        if (state.isStopping) return false
        stop()
        throw error
      }
    },
  }
}

/** The board of the workers' flights, and what is done when one of them dies in the middle. */
function openBoard(settings: Settings, log: Log) {
  const board = new FlightBoard(packFolder(settings.data.dir), (member, news) => {
    const message: SupervisorMessage = { kind: 'flight', news }
    const worker = cluster.workers?.[member]
    if (worker?.isConnected()) worker.send(message)
  })
  return {
    take: (member: number, report: FlightReport) => board.take(member, report),
    lose(member: number) {
      for (const { path, groupId } of board.lose(member)) {
        Promise.all([
          rm(path, { force: true }),
          groupId === undefined ? undefined : endProcessGroup(groupId),
        ]).catch((error: unknown) => log.warn({ error, path }, 'a dead worker left an answer'))
      }
    },
  }
}

async function replace(settings: Settings, log: Log, isStopping: () => boolean): Promise<void> {
  try {
    await recover(settings.data.dir)
    const db = await openDatabase(settings.database)
    await sweepImports(db, settings.data.dir).finally(() => closeDatabase(db))
  } catch (error) {
    log.error({ error }, 'what a dead worker left of its pushes and migrations was not mended')
  }
  await new Promise((resolve) => setTimeout(resolve, RESTART_PAUSE_MS))
  if (!isStopping()) forkWorker()
}

/**
 * V8 lets the space of young objects grow to 16 MiB, thrice, while bodies stream; with half as much
 * as here, small answers spend more on collections. And it collects all over again whenever a
 * worker comes to rest, to give back a few MiB: a fifth of what the worker itself spends on a clone
 * that finds nothing kept.
 */
const NO_REDUCER = '--no-memory-reducer'
const V8_OPTIONS = ['--max-semi-space-size=8', NO_REDUCER]

function forkWorker(): Worker {
  // Workers take connections for SSH themselves; handed on by us, each would wake two processes.
  cluster.schedulingPolicy = cluster.SCHED_NONE
  cluster.setupPrimary({
    execArgv: [...process.execArgv, ...V8_OPTIONS],
  })
  return cluster.fork({
    UWS_HTTP_MAX_HEADERS_SIZE: String(HEADERS_BYTES_MAX),
    // The buffers of a stream are freed on other threads: with an arena of the C library for
    // each of them, they are given back to one and asked of another.
    MALLOC_ARENA_MAX: '1',
  })
}

function untilListening(worker: Worker): Promise<void> {
  return new Promise((resolve, reject) => {
    worker.on('message', (message: unknown) => {
      if (!isWorkerMessage(message)) return
      if (message.kind === 'listening') resolve()
      if (message.kind === 'failed') reject(new Error(message.reason))
    })
    worker.on('exit', (code, signal) => {
      reject(new Error(`a worker ended before it listened (${signal ?? code})`))
    })
  })
}

const CREATE_ACCOUNT = './scripts/gatehouse user create NAME --admin'

function greeting(settings: Settings): string {
  const inLog = settings.web.isEnabled ? 'at the address that the log names, or ' : ''
  return [
    `Gatehouse serves at ${settings.http.baseUrl}`,
    `Create the first account ${inLog}with:`,
    `  ${CREATE_ACCOUNT}`,
    '',
  ].join('\n')
}

/** `url` is the page that creates the first account; undefined if there are no pages. */
function greetingOnTerminal(settings: Settings, url: string | undefined): string {
  const command = 'in a second terminal, in the same folder:'
  return [
    '',
    `Gatehouse serves at ${settings.http.baseUrl} and keeps this terminal. Ctrl-C stops it.`,
    '',
    ...(url === undefined
      ? [`Create the first account ${command}`]
      : ['Create the first account in a browser:', `  ${url}`, `or ${command}`]),
    `  ${CREATE_ACCOUNT}`,
    '',
  ].join('\n')
}
