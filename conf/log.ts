/** Log lines on standard error, JSON or text: one logger, made at the start and handed down. */

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
 * Creates a logger to standard error: lines that come within some milliseconds go out together.
 * Workers inherit standard error, so `auto` means the same in all processes of a server.
 */
export function createLog({ level, format }: LogOptions): Log {
  const isTerminal = isatty(STDERR)
  const isText = format === 'text' || (format === 'auto' && isTerminal)
  const destination = createDestination()
  return pino(
    {
      level,
      // A field named pid is then another process's, such as that of a worker that died.
      base: isText ? null : { pid: process.pid },
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { error: describeError },
    },
    isText ? asText(destination, isTerminal && process.stderr.hasColors()) : destination,
  )
}

/** Node's `hasColors` honours NO_COLOR, and TERM. */
function asText(destination: LogDestination, isColoured: boolean): LogDestination {
  return {
    write: (line) => destination.write(formatLogLine(line, { isColoured })),
    flush: destination.flush,
  }
}

interface LogDestination extends DestinationStream {
  /** Writes what was gathered, and calls back when it is written. */
  flush(done: () => void): void
}

/** A write for each line of its own is a large part of the warm clone that it tells of. */
const WRITE_EVERY_MS = 10

/** Lines that are not written yet are written when the process ends. */
function createDestination(): LogDestination {
  const file = pino.destination({ dest: STDERR, sync: false })
  let waiting = ''
  let isBroken = false
  file.on('error', (error: NodeJS.ErrnoException) => {
    isBroken = true
    // Otherwise the library retries for ever, when the process ends, what cannot be written.
    file.destroy()
    // A terminal that was closed: lines for it are dropped.
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

/** How long the end of a process waits for who reads its log. */
const LAST_WRITE_WITHIN_MS = 2_000
const RETRY_EVERY_MS = 5

/**
 * Writes in this thread, because the process may end before a write of another one has begun. As
 * soon as anything uses `process.stderr`, a pipe there takes what fits and refuses the rest.
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
