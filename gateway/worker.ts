/** A worker process: one gateway, under a supervisor that shares the port among several. */

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

/** Serves until the supervisor ends the worker or is gone. */
export async function runWorker(settings: Settings): Promise<void> {
  const log = createLog(settings.log)
  const throttle = createSharedThrottle()
  const server = await migrateIfBehind(settings, log)
    .then(() =>
      startServer({
        settings,
        log,
        throttle,
        coordinator: sharedCoordinator,
        collectMetrics: askMetrics,
        sshSocket: settings.ssh.socket,
      }),
    )
    .catch((error: unknown) => {
      tell({ kind: 'failed', reason: error instanceof Error ? error.message : String(error) })
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
  // What is sent to a supervisor that has just ended fails here.
  process.on('error', () => {})
  // A terminal sends both to all processes of its group; the supervisor acts on them.
  process.on('SIGINT', () => {})
  process.on('SIGHUP', () => {})
  tell({ kind: 'listening', protocol: PROTOCOL })
}

/** After an update, a reload starts workers whose program is newer than the supervisor's. */
async function migrateIfBehind(settings: Settings, log: Log): Promise<void> {
  const db = await openDatabase(settings.database)
  try {
    if (await isBehind(db)) await migrateDatabase(db, log)
  } finally {
    await closeDatabase(db)
  }
}

function tell(message: WorkerMessage): void {
  process.send?.(message)
}

/** The connection to the coordinator, which runs in the supervisor. */
const sharedCoordinator: CoordinatorLink = {
  report: (report) => tell({ kind: 'flight', report }),
  listen(take) {
    process.on('message', (message: unknown) => {
      if (isSupervisorMessage(message) && message.kind === 'flight') take(message.notification)
    })
  },
}

const METRICS_TIMEOUT_MS = 5_000
let metricsId = 0

/** The text of all workers' metrics, which only the supervisor can put together. */
function askMetrics(): Promise<string> {
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
      reject(new Error('the supervisor gave no metrics'))
    }, METRICS_TIMEOUT_MS)
    process.on('message', take)
    tell({ kind: 'metrics-wanted', id })
  })
}
