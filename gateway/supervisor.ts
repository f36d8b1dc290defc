/** The supervisor process: prepares the data and runs the workers. */

import { isatty } from 'node:tty'
import { RateLimiterClusterMaster } from 'rate-limiter-flexible'
import { recover } from '../cgi/maintenance/recovery.js'
import { notifyReady } from '../cgi/process/notify-ready.js'
import { createFolder } from '../conf/lib/folders.js'
import { commandOfInstallation } from '../conf/lib/program-file.js'
import { notifySocket, searchPath } from '../conf/load.js'
import { createLog, type Log } from '../conf/log.js'
import type { Settings } from '../conf/settings.js'
import { hasUsers } from '../sql/admin/site.js'
import { closeDatabase, openDatabase } from '../sql/database/database.js'
import { sweepImports } from './actions/repositories/sweep-imports.js'
import { setUpCodeOf } from './auth/set-up.js'
import type { WarningOptions } from './doctor/checks.js'
import { claimSecret, refuseOtherSite } from './doctor/site-identity.js'
import { Fleet } from './fleet.js'
import { migrateDatabase } from './migrate-database.js'
import { watchPeers } from './peer-watch.js'
import {
  handOverSocket,
  prepareSocketFolder,
  removeStaleSocket,
  type SshSocket,
  sshSocketOf,
  untilAccepted,
} from './ssh/socket-file.js'

const STDOUT = 1
const STDERR = 2

interface SupervisorOptions {
  /** Reads the settings again. Throws if they are invalid. */
  readonly reread: () => Settings
  /** Shows text to the user who started the server. */
  readonly greet: (text: string) => void
}

/**
 * Serves until SIGTERM or SIGINT, or until its terminal is closed; resolves when all workers have
 * ended. If the first workers cannot start, throws an error whose message is for the user who
 * started the server.
 */
export async function superviseWorkers(
  settings: Settings,
  { reread, greet }: SupervisorOptions,
): Promise<void> {
  const log = createLog(settings.log)
  const setUpCode = await prepareData(settings, log)
  new RateLimiterClusterMaster()
  const fleet = new Fleet(settings, log)
  const sshSocket = sshSocketOf(settings.ssh.socket, process.pid)
  process.on('SIGTERM', () => handOver(sshSocket, log).then(() => fleet.stop()))
  process.on('SIGINT', () => fleet.stop({ isHurried: true }))
  const isOnTerminal = isatty(STDERR)
  const reload = createReload(fleet, { settings, reread, log })
  // SIGHUP means a reload, but the kernel also sends it when the terminal is closed.
  process.on('SIGHUP', () =>
    isOnTerminal && !isatty(STDERR) ? fleet.stop({ isHurried: true }) : reload(),
  )
  const stopped = new AbortController()
  if (await fleet.start()) {
    log.info({ url: settings.http.baseUrl, workers: settings.http.workers }, 'serving')
    const socket = notifySocket()
    if (socket !== undefined) {
      await notifyReady(socket, searchPath()).catch((error: unknown) =>
        log.error({ error }, 'systemd was not notified that the server is ready'),
      )
    }
    if (setUpCode !== undefined) {
      welcome(settings, { log, greet, setUpCode })
    }
    void warnAfterStart(settings, { log, stopped: stopped.signal })
  }
  const unwatch = watchPeers(settings, { socket: sshSocket, log })
  await fleet.ended
  stopped.abort()
  unwatch()
  await removeStaleSocket(sshSocket)
}

async function warnAfterStart(settings: Settings, options: WarningOptions): Promise<void> {
  // Loaded here because the first answer would wait for it otherwise.
  const { warnOfFaults } = await import('./doctor/checks.js')
  await warnOfFaults(settings, options)
}

/** Maximum time for workers to accept connections; the helper of sshd waits as long. */
const ACCEPTED_WITHIN_MS = 10_000

/** Lets another gateway of the data folder, if there is one, answer sshd from now on. */
async function handOver(socket: SshSocket, log: Log): Promise<void> {
  try {
    if (!(await handOverSocket(socket))) return
    log.info({ path: socket.path }, 'another gateway has the socket for SSH now')
    if (await untilAccepted(socket, ACCEPTED_WITHIN_MS)) return
    log.warn({ path: socket.path }, 'the workers have not accepted all connections for SSH')
  } catch (error) {
    log.warn({ error, path: socket.path }, 'the socket for SSH was not handed over')
  }
}

interface ReloadOptions extends Pick<SupervisorOptions, 'reread'> {
  readonly settings: Settings
  readonly log: Log
}

/** Settings that workers of one supervisor share. */
const FIXED: ReadonlyArray<(settings: Settings) => string> = [
  ({ data }) => data.dir,
  ({ cache }) => cache.dir,
  ({ ssh }) => ssh.socket,
]

/** Returns a function that renews the workers. Concurrent calls renew one after the other. */
function createReload(fleet: Fleet, { settings, reread, log }: ReloadOptions): () => void {
  let renewing = Promise.resolve()
  const renew = async () => {
    try {
      const renewed = reread()
      if (FIXED.some((read) => read(renewed) !== read(settings))) {
        throw new Error('a change of data.dir, cache.dir or ssh.socket needs a restart')
      }
      await fleet.renew(renewed)
      log.level = renewed.log.level
      log.info({ workers: renewed.http.workers }, 'new workers serve')
    } catch (error) {
      log.error({ error }, 'the reload failed: workers and settings are unchanged')
    }
  }
  return () => {
    renewing = renewing.then(renew)
  }
}

interface WelcomeOptions {
  readonly log: Log
  readonly greet: (text: string) => void
  readonly setUpCode: string
}

/**
 * Explains how to create the first account. The address with its code is shown once: in the
 * greeting if standard output is a terminal, otherwise in the log.
 */
function welcome(settings: Settings, { log, greet, setUpCode }: WelcomeOptions): void {
  const { isEnabled } = settings.web
  const url = isEnabled ? `${settings.http.baseUrl}/setup?code=${setUpCode}` : undefined
  const isTerminal = isatty(STDOUT)
  if (url !== undefined && !isTerminal) {
    log.info({ url }, 'the first account can be created at this address')
  }
  const text = isTerminal ? greetingOnTerminal(settings, url) : greeting(settings)
  // The greeting follows the log lines of the start, which may share its terminal.
  log.flush(() => greet(text))
}

/**
 * Migrates the database and recovers from a crash of pushes and imports. Returns the set-up code if
 * there is no account yet. Throws an Error for the user if the database, the data folder or the
 * port belongs to another site.
 */
async function prepareData(settings: Settings, log: Log): Promise<string | undefined> {
  const { dir } = settings.data
  await createFolder(dir, { mode: 0o750, setting: 'data.dir' })
  await prepareSocketFolder({ path: settings.ssh.socket })
  const db = await openDatabase(settings.database)
  try {
    await migrateDatabase(db, log)
    await refuseOtherSite(settings.http.listen, await claimSecret(db, dir))
    await recover(dir, log)
    await sweepImports(db, dir)
    return (await hasUsers(db)) ? undefined : await setUpCodeOf(dir)
  } finally {
    await closeDatabase(db)
  }
}

function createAccount(): string {
  return `  ${commandOfInstallation()} user create NAME --admin`
}

function greeting(settings: Settings): string {
  const inLog = settings.web.isEnabled ? 'at the address that the log names, or ' : ''
  return [
    `Gatehouse serves at ${settings.http.baseUrl}`,
    `Create the first account ${inLog}with:`,
    createAccount(),
    '',
  ].join('\n')
}

/** Returns the greeting. `url` is the page for the first account; undefined without pages. */
function greetingOnTerminal(settings: Settings, url: string | undefined): string {
  const command = 'in a second terminal, in the same folder:'
  return [
    '',
    `Gatehouse serves at ${settings.http.baseUrl} and keeps this terminal. Ctrl-C stops it.`,
    '',
    ...(url === undefined
      ? [`Create the first account ${command}`]
      : ['Create the first account in a browser:', `  ${url}`, `or ${command}`]),
    createAccount(),
    '',
  ].join('\n')
}
