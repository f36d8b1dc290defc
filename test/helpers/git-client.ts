/** The real git, isolated from the machine's configuration. */

import { fileURLToPath } from 'node:url'
import { runToEnd } from '../../cgi/process/run.js'

/** Settings that git also reads in the repositories to which it pushes. */
const CONFIG_FILE = fileURLToPath(new URL('../../../test/helpers/git.config', import.meta.url))

export interface GitClientResult {
  readonly exitCode: number | undefined
  readonly output: string
  readonly errorText: string
}

export interface GitClientOptions {
  readonly cwd: string
  readonly environment?: Readonly<Record<string, string>>
  readonly input?: string | Uint8Array
  readonly signal?: AbortSignal
  /** Two minutes by default. */
  readonly timeoutMs?: number
}

/** Runs git in a folder; returns the result, also if git fails. */
export async function tryGit(
  args: readonly string[],
  { cwd, environment, timeoutMs = 120_000, ...options }: GitClientOptions,
): Promise<GitClientResult> {
  const { exitCode, output, errorText } = await runToEnd('git', args, {
    ...options,
    cwd,
    environment: { ...userEnvironment(), ...environment },
    timeoutMs,
    outputBytesMax: 64 << 20,
  })
  return { exitCode, output: output.toString().trim(), errorText }
}

/** Runs git in a folder; returns its output. Throws with git's message if it fails. */
export async function git(args: readonly string[], options: GitClientOptions): Promise<string> {
  const { exitCode, output, errorText } = await tryGit(args, options)
  if (exitCode !== 0) throw new Error(`git ${args.join(' ')}: ${errorText}`)
  return output
}

function userEnvironment(): Record<string, string> {
  return {
    PATH: process.env.PATH ?? '/usr/bin:/bin',
    HOME: '/dev/null',
    LC_ALL: 'C',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: CONFIG_FILE,
    GIT_TERMINAL_PROMPT: '0',
    GIT_AUTHOR_NAME: 'Ada',
    GIT_AUTHOR_EMAIL: 'ada@example.com',
    GIT_COMMITTER_NAME: 'Ada',
    GIT_COMMITTER_EMAIL: 'ada@example.com',
  }
}
