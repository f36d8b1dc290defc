/** What asks the servers: wrk for requests, git itself for clones. */

import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { runToEnd } from '../../cgi/run.js'
import type { Turn } from './compare.js'
import { USER_PATH } from './server.js'

const CLIENT_MS = 300_000
const CONNECTIONS = 16
const SECONDS = 3

/** Asks for one address as often as it is answered, over 16 connections for three seconds. */
export async function requestAgain(
  url: string,
  { headers, signal }: { readonly headers: readonly string[]; readonly signal: AbortSignal },
): Promise<Turn> {
  const options = [`-t2`, `-c${CONNECTIONS}`, `-d${SECONDS}s`, '--timeout', '10s']
  const named = headers.flatMap((header) => ['-H', header])
  const { output, errorText } = await runToEnd('wrk', [...options, ...named, url], {
    environment: { PATH: USER_PATH },
    signal,
    timeoutMs: CLIENT_MS,
    outputBytesMax: 65_536,
  })
  const text = output.toString()
  const match = /(\d+) requests in ([\d.]+)(m?s)/.exec(text)
  if (match === null || /Non-2xx|Socket errors/.test(text)) {
    throw new Error(`wrk was not answered well by ${url}: ${text}${errorText}`)
  }
  return {
    operations: Number(match[1]),
    seconds: Number(match[2]) / (match[3] === 's' ? 1 : 1_000),
  }
}

export interface CloneOptions {
  /** Clones in all. */
  readonly count: number
  /** How many run at once. */
  readonly parallel: number
  /** Where the clones go, to be removed at once. */
  readonly folder: string
  readonly signal: AbortSignal
}

/** Clones an address; the files are not checked out, which would measure the client's disk. */
export async function cloneAgain(url: string, options: CloneOptions): Promise<Turn> {
  const { count, parallel, signal } = options
  const target = await mkdtemp(join(options.folder, 'clones-'))
  let started = 0
  const cloneOneByOne = async () => {
    while (started < count) {
      started += 1
      const args = ['clone', '--quiet', '--no-checkout', url, join(target, String(started))]
      await runGitAsUser(args, { cwd: target, signal })
    }
  }
  const startedAt = performance.now()
  await Promise.all(Array.from({ length: parallel }, cloneOneByOne))
  const seconds = (performance.now() - startedAt) / 1_000
  await rm(target, { recursive: true })
  return { operations: count, seconds }
}

export interface GitOptions {
  readonly cwd: string
  readonly signal: AbortSignal
  readonly input?: Uint8Array
}

/** Runs git as a user would, without the settings of this machine. Throws when it fails. */
export async function runGitAsUser(args: readonly string[], options: GitOptions): Promise<string> {
  const { exitCode, output, errorText } = await runToEnd('git', args, {
    ...options,
    environment: {
      PATH: USER_PATH,
      HOME: '/dev/null',
      LC_ALL: 'C',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_TERMINAL_PROMPT: '0',
    },
    timeoutMs: CLIENT_MS,
    outputBytesMax: 1_048_576,
  })
  if (exitCode !== 0) throw new Error(`git ${args[0]}: ${errorText}`)
  return output.toString()
}
