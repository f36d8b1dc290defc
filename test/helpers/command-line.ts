/** Processes of the command line, started with given settings. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { PLAIN_NODE } from './plain-node.js'
import { until } from './server-processes.js'
import { temporaryFolder } from './temporary.js'

/** Path of the program; it is run by PLAIN_NODE. */
export const COMMAND_LINE = fileURLToPath(new URL('../../program/gatehouse.js', import.meta.url))

interface Teardown {
  teardown(action: () => Promise<unknown>): void
}

export interface CommandOptions {
  /** Settings by their variables; by default the data folder is `data` in an empty folder. */
  readonly environment?: Readonly<Record<string, string>>
  /** Working folder; by default an empty one. */
  readonly cwd?: string
  /** Bytes of standard input; by default it is empty. */
  readonly input?: string | Uint8Array
}

export interface RunningCommand {
  readonly pid: number
  readonly output: () => string
  readonly errorText: () => string
  /** Waits until the output matches or the command ends; returns true if it matches. */
  says(words: RegExp): Promise<boolean>
  /** Sends the signal, if any, and waits for the end of the command. */
  end(signal?: NodeJS.Signals): Promise<CommandEnd>
}

export interface CommandEnd {
  readonly exitCode: number | null
  readonly output: string
  readonly errorText: string
}

const SAYS_WITHIN_MS = 30_000

/** Starts `gatehouse …`; it is killed at the end of the test. */
export async function startCommand(
  t: Teardown,
  args: readonly string[],
  { environment, cwd, input }: CommandOptions = {},
): Promise<RunningCommand> {
  const child = spawn('env', [...PLAIN_NODE, COMMAND_LINE, ...args], {
    cwd: cwd ?? (await temporaryFolder(t)),
    env: { PATH: process.env['PATH'] ?? '/usr/bin:/bin', ...environment },
  })
  // A command that refuses its arguments ends without reading its input.
  child.stdin.on('error', () => {})
  child.stdin.end(input)
  let output = ''
  let errorText = ''
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString()
  })
  child.stderr.on('data', (chunk: Buffer) => {
    errorText += chunk.toString()
  })
  const closed = once(child, 'close')
  t.teardown(async () => {
    child.kill('SIGKILL')
    await closed
  })
  return {
    pid: child.pid ?? -1,
    output: () => output,
    errorText: () => errorText,
    async says(words) {
      const isSaid = () => words.test(output) || words.test(errorText)
      await until(async () => isSaid() || child.exitCode !== null, Boolean, SAYS_WITHIN_MS)
      return isSaid()
    },
    async end(signal) {
      if (signal !== undefined) child.kill(signal)
      await closed
      return { exitCode: child.exitCode, output, errorText }
    },
  }
}

/** Runs `gatehouse …` to its end. */
export async function runCommand(
  t: Teardown,
  args: readonly string[],
  options: CommandOptions = {},
): Promise<CommandEnd> {
  return (await startCommand(t, args, options)).end()
}
