/** A worker process: one gateway, under a supervisor that shares the port among several. */

import { createLog } from '../conf/log.js'
import type { Settings } from '../conf/settings.js'
import { createSharedThrottle } from './auth/throttle.js'
import { isSupervisorMessage, type WorkerMessage } from './messages.js'
import { shareMetrics } from './metrics.js'
import type { BoardLink } from './packs/flights.js'
import { startServer } from './server.js'

/** Serves until the supervisor says stop or is gone. `reread` gives the settings anew. */
export async function runWorker(settings: Settings, reread: () => Settings): Promise<void> {
  const log = createLog(settings.log)
  const throttle = createSharedThrottle()
  const server = await startServer({
    ...{ settings, log, throttle },
    board: sharedBoard,
    collectMetrics: askMetrics,
    sshSocket: settings.ssh.socket,
  }).catch((error: unknown) => {
    tell({ kind: 'failed', reason: error instanceof Error ? error.message : String(error) })
    return undefined
  })
  if (server === undefined) {
    process.exitCode = 1
    process.disconnect()
    return
  }
  shareMetrics(server.metrics)
  let isStopping = false
  const stop = async () => {
    if (isStopping) return
    isStopping = true
    await server.stop()
    process.exit(0)
  }
  process.on('SIGTERM', stop)
  process.on('disconnect', stop)
  // The terminal sends it to all processes of the group; the supervisor turns it into a stop.
  process.on('SIGINT', () => {})
  process.on('SIGHUP', () => {
    try {
      server.reload(reread())
      log.info('the settings were read again')
    } catch (error) {
      log.error({ error }, 'the settings were not read again')
    }
  })
  tell({ kind: 'listening' })
}

function tell(message: WorkerMessage): void {
  process.send?.(message)
}

/** The board that the supervisor keeps. */
const sharedBoard: BoardLink = {
  report: (report) => tell({ kind: 'flight', report }),
  listen(take) {
    process.on('message', (message: unknown) => {
      if (isSupervisorMessage(message) && message.kind === 'flight') take(message.news)
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
