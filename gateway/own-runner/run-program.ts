/** Runs a program of a step with its output in the log. */

import { constants } from 'node:fs'
import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { type ProcessEnd, type RunningProcess, startProcess } from '../../cgi/process/run.js'
import { CommandReader } from './command-reader.js'
import type { Isolate } from './isolation.js'
import { LineSplitter } from './line-splitter.js'
import type { TaskLog } from './task-log.js'

/** Options of a program. */
export interface ProgramOptions {
  readonly cwd: string
  /** The complete environment. */
  readonly environment: Readonly<Record<string, string>>
  readonly isolate: Isolate
  readonly timeoutMs: number
  /** Ends the process group. */
  readonly signal: AbortSignal
  readonly log: TaskLog
}

/** Longest time that a timer of Node can have. */
const TIMER_MS_MAX = 2_147_483_647

/** Runs a program. Its process group is ended when the program exits. Throws JobFault. */
export async function runProgram(
  command: readonly string[],
  options: ProgramOptions,
): Promise<ProcessEnd> {
  const { log, cwd, environment, signal } = options
  const launch = options.isolate({ command, cwd, environment })
  const running = await startProcess(launch.file, launch.args, {
    cwd: launch.cwd,
    environment: launch.environment,
    signal,
    timeoutMs: Math.min(options.timeoutMs, TIMER_MS_MAX),
  })
  void running.input.write(Buffer.from(launch.input)).then(() => running.input.end())
  const commands = new CommandReader(log)
  const splitter = new LineSplitter((line) => commands.add(line))
  try {
    for await (const chunk of untilEnded(running)) {
      splitter.write(chunk)
      await log.hasRoom()
    }
  } catch {
    // The end of the process says more than the error of its output.
  }
  splitter.end()
  const end = await running.ended
  if (launch.end === undefined || !(signal.aborted || end.timedOut)) return end
  await launch.end()
  // The ended process was only a client of the program, and may have exited with status 0.
  return { ...end, exitCode: undefined, signal: 'SIGTERM' }
}

/** Time for which the output may stay silent and open after the end of the process group. */
const SILENT_MS_MAX = 500
const CHECK_EVERY_MS = 100

/**
 * Yields the output. A process that left the group, such as a daemon, keeps the pipe open; the
 * output then ends soon after the group.
 */
async function* untilEnded(running: RunningProcess): AsyncGenerator<Uint8Array> {
  const chunks = running.output[Symbol.asyncIterator]()
  let waitingSinceMs = Number.POSITIVE_INFINITY
  let timer: NodeJS.Timeout | undefined
  void running.ended.then(() => {
    timer = setInterval(() => {
      if (Date.now() - waitingSinceMs > SILENT_MS_MAX) void chunks.return?.()
    }, CHECK_EVERY_MS)
  })
  try {
    for (;;) {
      waitingSinceMs = Date.now()
      const result = await chunks.next()
      waitingSinceMs = Number.POSITIVE_INFINITY
      if (result.done) return
      yield result.value
    }
  } finally {
    await running.ended
    clearInterval(timer)
  }
}

/** Returns the path of a program in a list of folders; undefined if it has none. */
export async function findProgram(name: string, path: string): Promise<string | undefined> {
  for (const folder of path.split(':')) {
    const file = join(folder, name)
    const isProgram = await access(file, constants.X_OK).then(
      () => true,
      () => false,
    )
    if (isProgram) return file
  }
  return undefined
}
