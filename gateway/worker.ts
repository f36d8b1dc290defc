/** A worker process: one server under a supervisor. All workers share the port. */

import { createLog, type Log } from '../conf/log.js'
import type { Settings } from '../conf/settings.js'
import { closeDatabase, openDatabase } from '../sql/database/database.js'
import { createSharedThrottle } from './auth/throttle.js'
import type { DrainTimes } from './http/drain.js'
import { isSupervisorMessage, PROTOCOL, type WorkerMessage } from './messages.js'
import { isBehind, migrateDatabase } from './migrate-database.js'
import type { CoordinatorLink } from './packs/single-flight.js'
import { shareMetrics } from './request/metrics.js'
import { startServer } from './server.js'
import { sshSocketOf } from './ssh/socket-file.js'

/** Serves until the supervisor stops the worker or ends itself. */
export async function runWorker(settings: Settings): Promise<void> {
  const log = createLog(settings.log)
  const server = await migrateIfBehind(settings, log)
    .then(() =>
      startServer({
        settings,
        log,
        createThrottle: createSharedThrottle,
        coordinator: sharedCoordinator,
        collectMetrics: requestMetrics,
        sshSocket: sshSocketOf(settings.ssh.socket, process.ppid),
      }),
    )
    .catch((error: unknown) => {
      send({ kind: 'failed', reason: error instanceof Error ? error.message : String(error) })
      return undefined
    })
  if (server === undefined) {
    process.exitCode = 1
    process.disconnect()
    return
  }
  shareMetrics(server.metrics)
  const stop = (times?: DrainTimes) => {
    void server.stop(times).then(() => process.exit(0))
  }
  process.on('message', (message: unknown) => {
    if (isSupervisorMessage(message) && message.kind === 'stop') stop(message.times)
  })
  process.on('SIGTERM', () => stop())
  process.on('disconnect', () => stop())
  // A message to a supervisor that has just ended fails with this event.
  process.on('error', () => {})
  // A terminal sends these signals to the whole process group; only the supervisor handles them.
  process.on('SIGINT', () => {})
  process.on('SIGHUP', () => {})
  send({ kind: 'listening', protocol: PROTOCOL })
}

/** Migrates the database if a reload after an update started a newer program. */
async function migrateIfBehind(settings: Settings, log: Log): Promise<void> {
  const db = await openDatabase(settings.database)
  try {
    if (await isBehind(db)) await migrateDatabase(db, log)
  } finally {
    await closeDatabase(db)
  }
}

function send(message: WorkerMessage): void {
  process.send?.(message)
}

/** Link to the coordinator, which runs in the supervisor. */
const sharedCoordinator: CoordinatorLink = {
  report: (report) => send({ kind: 'flight', report }),
  listen(take) {
    process.on('message', (message: unknown) => {
      if (isSupervisorMessage(message) && message.kind === 'flight') take(message.notification)
    })
  },
  announce: (pushed) => send({ kind: 'pushed', pushed }),
  hear(take) {
    process.on('message', (message: unknown) => {
      if (isSupervisorMessage(message) && message.kind === 'pushed') take(message.pushed)
    })
  },
}

const METRICS_TIMEOUT_MS = 5_000
let metricsId = 0

/** Returns the metrics of all workers, which only the supervisor can collect. */
function requestMetrics(): Promise<string> {
  metricsId += 1
  const id = metricsId
  return new Promise((resolve, reject) => {
    const settle = () => {
      clearTimeout(timer)
      process.off('message', take)
    }
    const take = (message: unknown) => {
      if (!isSupervisorMessage(message) || message.kind !== 'metrics' || message.id !== id) return
      settle()
      resolve(message.text)
    }
    const timer = setTimeout(() => {
      settle()
      reject(new Error(`the supervisor sent no metrics within ${METRICS_TIMEOUT_MS} ms`))
    }, METRICS_TIMEOUT_MS)
    process.on('message', take)
    send({ kind: 'metrics-wanted', id })
  })
}
