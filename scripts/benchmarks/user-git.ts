/** Git as a user would run it, without the settings of this machine. */

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
  /** Variables besides those that every user has. */
  readonly environment?: Readonly<Record<string, string>> | undefined
}

/** Runs git for its output. Throws when it fails. */
export async function runGitAsUser(
  args: readonly string[],
  { cwd, signal, environment }: GitOptions,
): Promise<string> {
  const { exitCode, output, errorText } = await runToEnd('git', args, {
    cwd,
    signal,
    environment: { ...ENVIRONMENT, ...environment },
    timeoutMs: GIT_MS,
    outputBytesMax: 1_048_576,
  })
  if (exitCode !== 0) throw new Error(`git ${args[0]}: ${errorText}`)
  return output.toString()
}

/** Git reads a pipe faster in pieces of this size than in lines. */
const PIECE_LENGTH = 1_048_576

/** Runs git with an input that need not fit into memory. Throws when it fails. */
export async function feedGitAsUser(
  args: readonly string[],
  { cwd, signal, input }: GitOptions & { readonly input: Iterable<string> },
): Promise<void> {
  const options = { cwd, signal, environment: ENVIRONMENT, timeoutMs: GIT_MS }
  const running = startProcess('git', args, options)
  let piece = ''
  for (const text of input) {
    piece += text
    if (piece.length < PIECE_LENGTH) continue
    // Git that reads no more has failed, and says below why.
    if (!(await running.input.write(Buffer.from(piece)))) break
    piece = ''
  }
  await running.input.write(Buffer.from(piece))
  running.input.end()
  for await (const _ of running.output);
  const { exitCode, errorText } = await running.ended
  if (exitCode !== 0) throw new Error(`git ${args[0]}: ${errorText}`)
}
