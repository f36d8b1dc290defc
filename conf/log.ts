/** JSON lines on standard error: one logger, made at the start and handed down. */

import { type DestinationStream, type Logger, pino } from 'pino'

export type Log = Logger

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

/** A logger to standard error: lines that come within some milliseconds go out together. */
export function createLog(level: LogLevel): Log {
  return pino(
    {
      level,
      base: { pid: process.pid },
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { error: describeError },
    },
    createDestination(),
  )
}

/** A write for each line of its own is a large part of the warm clone that it tells of. */
const WRITE_EVERY_MS = 10

/** What is not written yet is so at the latest when the process ends. */
function createDestination(): DestinationStream {
  const file = pino.destination({ dest: 2, sync: false })
  let waiting = ''
  const writeOut = () => {
    file.write(waiting)
    waiting = ''
  }
  process.once('exit', () => {
    file.flushSync()
    if (waiting === '') return
    // The process may end before a write of another thread has begun.
    pino.destination({ dest: 2, sync: true }).write(waiting)
  })
  return {
    write(line) {
      if (waiting === '') setTimeout(writeOut, WRITE_EVERY_MS).unref()
      waiting += line
    },
  }
}

interface ErrorDescription {
  readonly type: string
  readonly message: string
  readonly code?: unknown
  readonly stack?: string | undefined
  readonly cause?: ErrorDescription
}

/** What an error says, field by field: a driver hangs the statement and its values on its own. */
function describeError(error: unknown): ErrorDescription {
  if (!(error instanceof Error)) return { type: typeof error, message: String(error) }
  return {
    type: error.name,
    message: error.message,
    ...('code' in error ? { code: error.code } : {}),
    stack: error.stack,
    ...(error.cause === undefined ? {} : { cause: describeError(error.cause) }),
  }
}
