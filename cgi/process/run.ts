/** Processes with streamed input and output, each the leader of its own process group. */

import type { Readable, Writable } from 'node:stream'
import { readOnce } from '../../conf/lib/chunks.js'
import { endProcessGroup } from './process-group.js'
import {
  type OwnGroupOptions,
  type ProcessGroup,
  type ProcessGroupOptions,
  spawnByExeca,
  spawnIfLarge,
  spawnProcessGroup,
  unstartedProcessGroup,
} from './spawn-group.js'

/** Options of a process. */
export interface ProcessOptions extends ProcessGroupOptions {
  /** Ends the process group if aborted. */
  readonly signal?: AbortSignal | undefined
  readonly timeoutMs: number
  /** Name of the process in errors; by default its file. */
  readonly name?: string | undefined
  /** Returns the error that `output` throws if the process did not end by itself. */
  readonly errorOf?: ((end: ProcessEnd) => Error | undefined) | undefined
}

/** The standard input of a process. */
export interface ProcessInput {
  /** Writes a chunk. Returns false if the process reads no more input, which is not an error. */
  write(chunk: Uint8Array): Promise<boolean>
  end(): void
}

/** Result of a process. */
export interface ProcessEnd {
  /** Absent if a signal ended the process, or if it never started. */
  readonly exitCode: number | undefined
  readonly signal: string | undefined
  /** The first 64 KiB of standard error, or the reason why the process never started. */
  readonly errorText: string
  readonly timedOut: boolean
}

/** A process and its group, from start to end. */
export interface RunningProcess {
  /** Process id, and id of its group. Absent if it did not start; `ended` has the reason. */
  readonly pid: number | undefined
  readonly input: ProcessInput
  /**
   * Standard output. Can be read once, and must be read or returned from, because unread output
   * keeps its pipe open. Throws if the process did not end by itself, so that partial output is
   * never taken for complete. Returning early ends the process group.
   */
  readonly output: AsyncIterable<Uint8Array>
  /** Settles when the whole group has ended. Never rejects. */
  readonly ended: Promise<ProcessEnd>
  /** Ends the whole group within a second. */
  kill(): void
}

/**
 * Starts a program, unless the signal has aborted before. `ended` and `output` report if it cannot
 * be started or fails.
 */
export async function startProcess(
  file: string,
  args: readonly string[],
  options: ProcessOptions,
): Promise<RunningProcess> {
  const endsAtMs = performance.now() + options.timeoutMs
  const leader =
    abortedGroup(options) ??
    (await spawnIfLarge(file, args, options)) ??
    spawnProcessGroup(file, args, options)
  return follow(leader, file, { ...options, endsAtMs })
}

/** Starts a program like `startProcess`, but always from this process and before it returns. */
export function startProcessNow(
  file: string,
  args: readonly string[],
  options: ProcessOptions & OwnGroupOptions,
): RunningProcess {
  const endsAtMs = performance.now() + options.timeoutMs
  const leader = abortedGroup(options) ?? spawnProcessGroup(file, args, options)
  return follow(leader, file, { ...options, endsAtMs })
}

/** A program that is started and then killed may have done its work, if it is short. */
function abortedGroup({ signal }: ProcessOptions): ProcessGroup | undefined {
  return signal?.aborted ? unstartedProcessGroup('it was cancelled') : undefined
}

interface FollowOptions extends ProcessOptions {
  /** Time of `performance.now()` at which the process group is ended. */
  readonly endsAtMs: number
}

function follow(leader: ProcessGroup, file: string, options: FollowOptions): RunningProcess {
  const { pid, stdin, stdout, stderr, exit } = leader
  const errorText = collectErrorText(stderr)
  const state: State = { ending: undefined, killed: false, timedOut: false }
  const kill = () => {
    if (pid === undefined || state.ending !== undefined) return
    state.killed = true
    state.ending = endProcessGroup(pid)
  }
  const endLate = () => {
    state.timedOut ||= state.ending === undefined
    kill()
  }
  const leftMs = options.endsAtMs - performance.now()
  const timer = setTimeout(endLate, leftMs)
  options.signal?.addEventListener('abort', kill)
  // Both may have happened while the launcher started the process.
  if (options.signal?.aborted) kill()
  else if (leftMs <= 0) endLate()

  const ended = exit.then(async ({ exitCode, signal, startError }) => {
    clearTimeout(timer)
    options.signal?.removeEventListener('abort', kill)
    // Ends the processes that the leader left running: nothing outlives the started process.
    if (pid !== undefined) state.ending ??= endProcessGroup(pid)
    await state.ending
    if (state.killed) stdout.destroy()
    const text = await errorText()
    return { exitCode, signal, errorText: startError ?? text, timedOut: state.timedOut }
  })
  return {
    pid,
    input: inputOf(stdin),
    output: outputOf(stdout, { file, state, ended, kill, ...options }),
    ended,
    kill,
  }
}

/** Text or bytes, or pieces of text that are made while a process reads them. */
export type InputPieces = string | Uint8Array | Iterable<string> | AsyncIterable<string>

/** Options of a short command. */
export interface ShortProcessOptions extends ProcessOptions {
  /** Standard input; an error of the pieces ends the process and is thrown. */
  readonly input?: InputPieces | undefined
  /** Maximum number of bytes of output; more is an error. */
  readonly outputBytesMax: number
}

/** Result and output of a short command. */
export interface ShortProcessEnd extends ProcessEnd {
  readonly output: Buffer
}

/** Runs a short command. Throws if it did not start, was ended, or wrote too much. */
export async function runToEnd(
  file: string,
  args: readonly string[],
  options: ShortProcessOptions,
): Promise<ShortProcessEnd> {
  const endsAtMs = performance.now() + options.timeoutMs
  const leader =
    abortedGroup(options) ??
    (await spawnIfLarge(file, args, options)) ??
    spawnByExeca(file, args, options)
  const running = follow(leader, file, { ...options, endsAtMs })
  const { name = file, input = '' } = options
  const chunks: Uint8Array[] = []
  let sizeBytes = 0
  for await (const chunk of outputFor(running, input)) {
    chunks.push(chunk)
    sizeBytes += chunk.length
    if (sizeBytes > options.outputBytesMax) {
      throw new Error(`${name} wrote more than ${options.outputBytesMax} bytes`)
    }
  }
  return { ...(await running.ended), output: Buffer.concat(chunks) }
}

/** Writes the input of a process and yields its output; an error of the pieces ends the process. */
export async function* outputFor(
  running: RunningProcess,
  pieces: InputPieces,
): AsyncGenerator<Uint8Array> {
  let broken: { readonly cause: unknown } | undefined
  feed(running, pieces).catch((cause: unknown) => {
    broken = { cause }
    running.kill()
  })
  try {
    yield* running.output
  } catch (error) {
    throw broken === undefined ? error : broken.cause
  }
}

async function feed({ input }: RunningProcess, pieces: InputPieces): Promise<void> {
  const isWhole = typeof pieces === 'string' || pieces instanceof Uint8Array
  for await (const piece of isWhole ? [pieces] : pieces) {
    const bytes = typeof piece === 'string' ? Buffer.from(piece) : piece
    if (!(await input.write(bytes))) break
  }
  input.end()
}

interface State {
  ending: Promise<void> | undefined
  killed: boolean
  timedOut: boolean
}

function inputOf(stdin: Writable): ProcessInput {
  // Errors such as EPIPE are reported to the callback of each write.
  stdin.on('error', () => {})
  return {
    write(chunk) {
      if (!stdin.writable) return Promise.resolve(false)
      if (chunk.length === 0) return Promise.resolve(true)
      return new Promise((resolve) => {
        stdin.write(chunk, (error) => resolve(!error && !stdin.destroyed))
      })
    },
    end() {
      stdin.end()
    },
  }
}

interface OutputContext extends Pick<ProcessOptions, 'name' | 'errorOf'> {
  readonly file: string
  readonly state: State
  readonly ended: Promise<ProcessEnd>
  readonly kill: () => void
}

function outputOf(stdout: Readable, context: OutputContext): AsyncIterable<Uint8Array> {
  // Without a listener of 'readable', Node would discard unread output when the process exits.
  stdout.on('readable', () => {})
  stdout.on('error', () => {})
  const chunks: AsyncIterator<Uint8Array> = stdout[Symbol.asyncIterator]()
  const next = async (): Promise<IteratorResult<Uint8Array>> => {
    let broken: { readonly cause: unknown } | undefined
    try {
      const result = await chunks.next()
      if (!result.done) return result
    } catch (cause) {
      broken = { cause }
    }
    const end = await context.ended
    if (context.state.killed || !endedByItself(end) || broken !== undefined) {
      const { file, name = file, errorOf } = context
      throw errorOf?.(end) ?? new Error(`${name} ${describeEnd(end)}`, broken)
    }
    return { done: true, value: undefined }
  }
  return readOnce(next, () => {
    context.kill()
    stdout.destroy()
  })
}

/**
 * Returns true if the process exited or got SIGPIPE. git-http-backend gets SIGPIPE if a push is
 * refused, with a complete report, before all of its input was read.
 */
function endedByItself(end: ProcessEnd): boolean {
  return end.exitCode !== undefined || end.signal === 'SIGPIPE'
}

function describeEnd(end: ProcessEnd): string {
  if (end.timedOut) return 'ran out of time'
  if (end.signal !== undefined) return `was ended by ${end.signal}`
  return end.exitCode === undefined ? `did not start: ${end.errorText}` : 'was cut off'
}

const ERROR_TEXT_BYTES_MAX = 65_536

/** Maximum time for which a process that left the group may keep standard error open. */
const ERROR_TEXT_GRACE_MS = 200

/** Reads a stream to its end, so that the process never blocks on it, and keeps the beginning. */
function collectErrorText(stderr: Readable): () => Promise<string> {
  const chunks: Buffer[] = []
  let leftBytes = ERROR_TEXT_BYTES_MAX
  stderr.on('error', () => {})
  stderr.on('data', (chunk: Buffer) => {
    if (leftBytes === 0) return
    chunks.push(chunk.subarray(0, leftBytes))
    leftBytes -= Math.min(chunk.length, leftBytes)
  })
  return async () => {
    if (!stderr.closed) await closeWithin(stderr, ERROR_TEXT_GRACE_MS)
    return Buffer.concat(chunks).toString()
  }
}

function closeWithin(stream: Readable, graceMs: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => stream.destroy(), graceMs)
    stream.once('close', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}
