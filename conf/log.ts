/** Logger that writes JSON or text lines to standard error; created once and passed down. */

import { writeSync } from 'node:fs'
import { isatty } from 'node:tty'
import { type DestinationStream, type Logger, pino } from 'pino'
import { formatLogLine } from './log-text.js'

export type Log = Logger

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

/** `auto` is text if standard error is a terminal, and JSON otherwise. */
export const LOG_FORMATS = ['auto', 'json', 'text'] as const
export type LogFormat = (typeof LOG_FORMATS)[number]

export interface LogOptions {
  readonly level: LogLevel
  readonly format: LogFormat
}

const STDERR = 2

/**
 * Creates a logger to standard error. Lines of a tenth of a second are written together. Workers
 * inherit standard error, so `auto` means the same in all processes of a server.
 */
export function createLog({ level, format }: LogOptions): Log {
  const isTerminal = isatty(STDERR)
  const isText = format === 'text' || (format === 'auto' && isTerminal)
  const destination = createDestination()
  return pino(
    {
      level,
      // In text, a field named pid is thus always that of another process, such as a dead worker.
      base: isText ? null : { pid: process.pid },
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { error: describeError },
    },
    isText ? asText(destination, isTerminal && process.stderr.hasColors()) : destination,
  )
}

/** Formats lines as text. `isColoured` is from `hasColors`, which honours NO_COLOR and TERM. */
function asText(destination: LogDestination, isColoured: boolean): LogDestination {
  return {
    write: (line) => destination.write(formatLogLine(line, { isColoured })),
    flush: destination.flush,
  }
}

interface LogDestination extends DestinationStream {
  /** Writes the buffered lines, and calls back when they are written. */
  flush(done: () => void): void
}

/**
 * Interval of writes. A write wakes a timer and a thread. For each request, that would be a large
 * part of the cost of a warm fetch.
 */
const WRITE_EVERY_MS = 100

/** Creates a buffered destination. When the process exits, the remaining lines are written. */
function createDestination(): LogDestination {
  const file = pino.destination({ dest: STDERR, sync: false })
  let waiting = ''
  let isBroken = false
  file.on('error', (error: NodeJS.ErrnoException) => {
    isBroken = true
    // Otherwise the library would retry forever at exit what cannot be written.
    file.destroy()
    // EIO means that the terminal was closed; its lines are dropped.
    if (error.code !== 'EIO') throw error
  })
  const writeOut = () => {
    if (waiting !== '' && !isBroken) file.write(waiting)
    waiting = ''
  }
  process.once('exit', () => {
    if (isBroken) return
    file.flushSync()
    writeLast(waiting)
  })
  return {
    write(line) {
      if (waiting === '') setTimeout(writeOut, WRITE_EVERY_MS).unref()
      waiting += line
    },
    flush(done) {
      if (waiting === '') return done()
      file.once('drain', done)
      writeOut()
    },
  }
}

/** Maximum time for which the exit of a process waits for the reader of its log. */
const LAST_WRITE_WITHIN_MS = 2_000
const RETRY_EVERY_MS = 5

/**
 * Writes synchronously, because the process may exit before another thread starts to write. Once
 * `process.stderr` was used, a pipe is non-blocking: it accepts what fits and refuses the rest.
 */
function writeLast(lines: string): void {
  const deadlineMs = Date.now() + LAST_WRITE_WITHIN_MS
  let rest = Buffer.from(lines)
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(STDERR, rest))
    } catch (error) {
      const isFull = error instanceof Error && 'code' in error && error.code === 'EAGAIN'
      // There is nowhere left to report it.
      if (!isFull || Date.now() > deadlineMs) return
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_EVERY_MS)
    }
  }
}

interface ErrorDescription {
  readonly type: string
  readonly message: string
  readonly code?: unknown
  readonly stack?: string | undefined
  readonly cause?: ErrorDescription
}

/** Copies some fields of an error; errors of database drivers also contain SQL and its values. */
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
