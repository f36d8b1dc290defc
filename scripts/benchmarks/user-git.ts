/** Git and other clients, without the configuration of this machine. */

import { runToEnd, startProcess } from '../../cgi/process/run.js'
import { USER_PATH } from './server.js'

const GIT_MS = 300_000
const ENVIRONMENT = {
  PATH: USER_PATH,
  HOME: '/dev/null',
  LC_ALL: 'C',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_TERMINAL_PROMPT: '0',
}

export interface GitOptions {
  readonly cwd: string
  readonly signal: AbortSignal
  /** Additional environment variables. */
  readonly environment?: Readonly<Record<string, string>> | undefined
}

/** Runs git and returns its output. Throws if it fails. */
export function runGitAsUser(args: readonly string[], options: GitOptions): Promise<string> {
  return runAsUser(['git', ...args], options)
}

/** Program with its arguments. */
export type Command = readonly [program: string, ...args: readonly string[]]

/** Runs a program and returns its output. Throws if it fails. */
export async function runAsUser(
  [program, ...args]: Command,
  { cwd, signal, environment }: GitOptions,
): Promise<string> {
  const { exitCode, output, errorText } = await runToEnd(program, args, {
    cwd,
    signal,
    environment: { ...ENVIRONMENT, ...environment },
    timeoutMs: GIT_MS,
    outputBytesMax: 1_048_576,
  })
  if (exitCode !== 0) throw new Error(`${program} ${args[0]}: ${errorText}`)
  return output.toString()
}

/** Size of a write to git's standard input; many small writes are slower. */
const PIECE_LENGTH = 1_048_576

/** Runs git with a streamed input. Throws if it fails. */
export async function feedGitAsUser(
  args: readonly string[],
  { cwd, signal, input }: GitOptions & { readonly input: Iterable<string> },
): Promise<void> {
  const options = { cwd, signal, environment: ENVIRONMENT, timeoutMs: GIT_MS }
  const running = await startProcess('git', args, options)
  let piece = ''
  for (const text of input) {
    piece += text
    if (piece.length < PIECE_LENGTH) continue
    // If git stops reading, it has failed; its exit code and error are checked below.
    if (!(await running.input.write(Buffer.from(piece)))) break
    piece = ''
  }
  await running.input.write(Buffer.from(piece))
  running.input.end()
  for await (const _ of running.output);
  const { exitCode, errorText } = await running.ended
  if (exitCode !== 0) throw new Error(`git ${args[0]}: ${errorText}`)
}
