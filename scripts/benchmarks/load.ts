/** Load generators: wrk for requests, git for clones. */

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { runToEnd } from '../../cgi/process/run.js'
import type { RoundResult } from './compare.js'
import { USER_PATH } from './server.js'
import { runGitAsUser } from './user-git.js'

const CLIENT_MS = 300_000
const SECONDS = 3

export interface LoadOptions {
  /** Headers as `Name: value`. */
  readonly headers: readonly string[]
  /** File with the body of a POST; absent for a GET. */
  readonly bodyFile?: string | undefined
  readonly threads: number
  readonly connections: number
  readonly signal: AbortSignal
}

/** Requests a URL with wrk for three seconds; unfinished responses are cut and not counted. */
export async function requestRepeatedly(url: string, options: LoadOptions): Promise<RoundResult> {
  const { headers, bodyFile, threads, connections, signal } = options
  const words = [`-t${threads}`, `-c${connections}`, `-d${SECONDS}s`, '--timeout', '10s']
  const named = headers.flatMap((header) => ['-H', header])
  const script = bodyFile === undefined ? [] : ['-s', await writeScript(bodyFile)]
  const { output, errorText } = await runToEnd('wrk', [...words, ...named, ...script, url], {
    environment: { PATH: USER_PATH },
    signal,
    timeoutMs: CLIENT_MS,
    outputBytesMax: 65_536,
  })
  const text = output.toString()
  const match = /(\d+) requests in ([\d.]+)(m?s)/.exec(text)
  if (match === null || /Non-2xx|Socket errors/.test(text)) {
    throw new Error(`requests of wrk to ${url} failed: ${text}${errorText}`)
  }
  return {
    operations: Number(match[1]),
    seconds: Number(match[2]) / (match[3] === 's' ? 1 : 1_000),
  }
}

/** Writes a Lua script for a POST, because wrk has no option for a body. */
async function writeScript(bodyFile: string): Promise<string> {
  const script = `${bodyFile}.lua`
  const lines = ['wrk.method = "POST"', `wrk.body = io.open([[${bodyFile}]], "rb"):read("*a")`]
  await writeFile(script, `${lines.join('\n')}\n`)
  return script
}

export interface CloneOptions {
  /** Arguments of `git clone`, such as `--depth=1`. */
  readonly args?: readonly string[]
  /** Total number of clones. */
  readonly count: number
  /** Number of concurrent clones. */
  readonly parallel: number
  /** Folder for the clones, which are removed immediately afterwards. */
  readonly folder: string
  readonly signal: AbortSignal
  /** Environment variables that git needs to connect. */
  readonly environment?: Readonly<Record<string, string>>
}

/** Clones a URL without checkout, which would measure the client's disk. */
export async function cloneRepeatedly(url: string, options: CloneOptions): Promise<RoundResult> {
  const { args = [], count, parallel, signal, environment } = options
  const target = await mkdtemp(join(options.folder, 'clones-'))
  let started = 0
  const cloneOneByOne = async () => {
    while (started < count) {
      started += 1
      const words = ['clone', '--quiet', '--no-checkout', ...args, url]
      await runGitAsUser([...words, join(target, String(started))], {
        cwd: target,
        signal,
        environment,
      })
    }
  }
  const startedAt = performance.now()
  await Promise.all(Array.from({ length: parallel }, cloneOneByOne))
  const seconds = (performance.now() - startedAt) / 1_000
  await rm(target, { recursive: true })
  return { operations: count, seconds }
}
