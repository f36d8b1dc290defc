/** Starts child processes, each in its own process group. Only this and `launcher` start any. */

import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { PassThrough, type Readable, type Writable } from 'node:stream'
import { execa } from 'execa'
import { type LaunchedExit, launch } from './launcher.js'

/** The first process of a group. */
export interface ProcessGroup {
  readonly pid: number | undefined
  readonly stdin: Writable
  readonly stdout: Readable
  readonly stderr: Readable
  /** Settles with the exit, or with the reason why the process did not start. Never rejects. */
  readonly exit: Promise<Exit>
}

/** Exit of the first process of a group, or the reason why it never started. */
export interface Exit {
  readonly exitCode: number | undefined
  readonly signal: string | undefined
  readonly startError?: string
}

/** Options of a process group. */
export interface ProcessGroupOptions {
  readonly cwd?: string | undefined
  /** The complete environment: nothing is inherited from this process. */
  readonly environment: Readonly<Record<string, string>>
}

/** Options of a process group that this process starts. */
export interface OwnGroupOptions extends ProcessGroupOptions {
  /** An open file that takes standard output instead of a pipe. */
  readonly outputFile?: number | undefined
}

/** Starts a process without execa, which would make each of the many starts 75 % more expensive. */
export function spawnProcessGroup(
  file: string,
  args: readonly string[],
  options: OwnGroupOptions,
): ProcessGroup {
  try {
    const child = spawn(file, args, {
      cwd: options.cwd,
      env: options.environment,
      detached: true,
      stdio: ['pipe', options.outputFile ?? 'pipe', 'pipe'],
    })
    const { pid, stdin, stderr } = child
    const stdout = options.outputFile === undefined ? child.stdout : endedStream()
    const exit = new Promise<Exit>((resolve) => {
      child.once('exit', (code, signal) => resolve(exitOf(code, signal)))
      child.on('error', (error) => {
        if (pid === undefined) resolve(neverStarted(error))
      })
    })
    // Out of file descriptors, Node makes no pipes.
    if (!stdin || !stdout || !stderr) return { ...absentProcessGroup(), exit }
    return { pid, stdin, stdout, stderr, exit }
  } catch (error) {
    return { ...absentProcessGroup(), exit: Promise.resolve(neverStarted(error)) }
  }
}

/**
 * Memory of this process, in bytes, from which the launcher starts commands. With less, the cost of
 * fork(2) does not justify the memory of another process.
 */
const LAUNCHER_RSS_BYTES_MIN = 128 << 20

/** Starts a command from a small process if this one is large; returns undefined otherwise. */
export async function spawnIfLarge(
  file: string,
  args: readonly string[],
  options: ProcessGroupOptions,
): Promise<ProcessGroup | undefined> {
  const isLarge = process.memoryUsage.rss() >= LAUNCHER_RSS_BYTES_MIN
  return isLarge ? await spawnByLauncher(file, args, options) : undefined
}

/** Starts a command from a small process; returns undefined if there can be none. */
export async function spawnByLauncher(
  file: string,
  args: readonly string[],
  { cwd, environment }: ProcessGroupOptions,
): Promise<ProcessGroup | undefined> {
  try {
    const launched = await launch({ file, args, cwd, environment })
    return launched && { ...launched, exit: launched.exit.then(exitOfLaunched) }
  } catch (error) {
    const isFolder = cwd === undefined || existsSync(cwd)
    return unstartedProcessGroup(isFolder ? error : `the folder ${cwd} does not exist`)
  }
}

function exitOfLaunched(exit: LaunchedExit): Exit {
  return 'lost' in exit ? neverStarted(exit.lost) : exitOf(exit.code, exit.signal)
}

/**
 * Starts a process with execa, whose errors distinguish a missing folder from a missing program.
 * Its buffering, stripping and cleanup are off. Its kill, timeout and cancelSignal are not used,
 * because they end only the leader and not the children that do git's work.
 */
export function spawnByExeca(
  file: string,
  args: readonly string[],
  options: ProcessGroupOptions,
): ProcessGroup {
  const child = execa(file, args, {
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    env: options.environment,
    extendEnv: false,
    detached: true,
    cleanup: false,
    buffer: false,
    encoding: 'buffer',
    reject: false,
    stdin: 'pipe',
  })
  const { pid, stdin, stdout, stderr } = child
  // The promise of execa also waits for the streams, so it is used only for failed starts.
  const exit = new Promise<Exit>((resolve) => {
    child.once('exit', (code, signal) => resolve(exitOf(code, signal)))
    child.then(
      ({ originalMessage }) => {
        if (pid === undefined) resolve(neverStarted(originalMessage))
      },
      (error: unknown) => resolve(neverStarted(error)),
    )
  })
  return { pid, stdin, stdout, stderr, exit }
}

/**
 * Runs a program that an administrator has named, with the input and output of this process and in
 * its process group. Signals of the terminal reach both; the others are sent to the program, so
 * that this process can clean up after it.
 */
export async function runInForeground(
  file: string,
  args: readonly string[],
  { environment }: Pick<ProcessGroupOptions, 'environment'>,
): Promise<Exit> {
  const child = spawn(file, args, { env: environment, stdio: 'inherit' })
  const forward = (signal: NodeJS.Signals) => void child.kill(signal)
  const ignore = () => {}
  process.on('SIGINT', ignore).on('SIGTERM', forward).on('SIGHUP', forward)
  try {
    return await new Promise<Exit>((resolve) => {
      child.once('exit', (code, signal) => resolve(exitOf(code, signal)))
      child.once('error', (error) => resolve(neverStarted(error)))
    })
  } finally {
    process.off('SIGINT', ignore).off('SIGTERM', forward).off('SIGHUP', forward)
  }
}

/** Returns the group of a process that is not started, for this reason. */
export function unstartedProcessGroup(reason: unknown): ProcessGroup {
  return { ...absentProcessGroup(), exit: Promise.resolve(neverStarted(reason)) }
}

function absentProcessGroup(): Omit<ProcessGroup, 'exit'> {
  return { pid: undefined, stdin: endedStream(), stdout: endedStream(), stderr: endedStream() }
}

function endedStream(): PassThrough {
  return new PassThrough().end()
}

function exitOf(code: number | null, signal: string | null): Exit {
  return { exitCode: code ?? undefined, signal: signal ?? undefined }
}

function neverStarted(reason: unknown): Exit {
  const text = reason instanceof Error ? reason.message : (reason ?? 'it could not be started')
  return { ...exitOf(null, null), startError: String(text) }
}
