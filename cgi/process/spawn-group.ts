/** The only room that starts processes, in the two ways that there are. */

import { spawn } from 'node:child_process'
import { PassThrough, type Readable, type Writable } from 'node:stream'
import { execa } from 'execa'

/** The first process of a group, and how it ends. */
export interface ProcessGroup {
  readonly pid: number | undefined
  readonly stdin: Writable
  readonly stdout: Readable
  readonly stderr: Readable
  /** Settles with the exit, or with why there was no start. Never rejects. */
  readonly exit: Promise<Exit>
}

/** How a leader ended, or why it never started. */
export interface Exit {
  readonly exitCode: number | undefined
  readonly signal: string | undefined
  readonly startError?: string
}

/** What a process is born with. */
export interface ProcessGroupOptions {
  readonly cwd?: string | undefined
  /** All of the environment: nothing of ours is inherited. */
  readonly environment: Readonly<Record<string, string>>
  /** An open file that takes standard output instead of a pipe. */
  readonly outputFile?: number | undefined
}

/** Started by Node alone: the requests of Git start many, and execa adds three quarters to each. */
export function spawnProcessGroup(
  file: string,
  args: readonly string[],
  options: ProcessGroupOptions,
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
 * Started by execa, which can tell a missing folder from a missing program. It would buffer, strip
 * and clean up; and its own kill, timeout and cancelSignal reach the leader alone, where git leaves
 * its work to children.
 */
export function spawnCommand(
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
  // Its own promise waits for the streams too; it is asked only about what never started.
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
