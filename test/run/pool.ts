/** Concurrent processes of a test run. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { open, readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Seconds after which the tests of a process are ended, so that the others still run. */
const DEFAULT_TIMEOUT_S = 1200
/** Additional time in which a process can report its timeout before it is killed. */
const REPORT_MS = 30_000

const ARGUMENTS = [
  // Node may never end while a function is still compiled beside it (nodejs/node#54918).
  '--no-concurrent-recompilation',
  '--enable-source-maps',
  `--import=${new URL('../helpers/unrecorded.js', import.meta.url).href}`,
]

export interface PoolOptions {
  /** Number of processes that run concurrently. */
  readonly jobs: number
  /** Folder for the output of running processes. */
  readonly folder: string
  readonly environment: Readonly<Record<string, string>>
}

/** Processes of a run. */
export interface Pool {
  /** Becomes true if each process has passed. */
  readonly passed: Promise<boolean>
  /** Ends the running processes and starts no further ones. */
  stop(): void
}

/** Starts a process for each file, and writes its TAP output to standard output when it ends. */
export function startPool(files: readonly string[], options: PoolOptions): Pool {
  const stopping = new AbortController()
  const waiting = files.values()
  const work = async (): Promise<boolean> => {
    let passed = true
    for (const file of waiting) {
      if (stopping.signal.aborted) return false
      if (!(await runProcess(file, stopping.signal, options))) passed = false
    }
    return passed
  }
  const workers = Array.from({ length: options.jobs }, work)
  return {
    passed: Promise.all(workers).then((passed) => passed.every(Boolean)),
    stop: () => stopping.abort(),
  }
}

async function runProcess(
  file: string,
  signal: AbortSignal,
  { folder, environment }: PoolOptions,
): Promise<boolean> {
  const name = file.slice(file.lastIndexOf('/') + 1)
  const timeoutS = Number(process.env['TAP_TIMEOUT'] ?? DEFAULT_TIMEOUT_S)
  const path = join(folder, `${name}.tap`)
  const output = await open(path, 'w')
  const child = spawn(process.execPath, [...ARGUMENTS, file], {
    stdio: ['inherit', output.fd, 'inherit'],
    env: { ...process.env, ...environment, TAP: '1', TAP_TIMEOUT: String(timeoutS) },
    ...(timeoutS === 0 ? {} : { timeout: timeoutS * 1_000 + REPORT_MS, killSignal: 'SIGKILL' }),
  })
  const stop = () => child.kill()
  signal.addEventListener('abort', stop)
  const [code, killedBy] = (await once(child, 'exit')) as [number | null, string | null]
  signal.removeEventListener('abort', stop)
  await output.close()
  process.stdout.write(await readFile(path))
  if (code !== 0) {
    const reason = killedBy === null ? `exit code ${code}` : killedBy
    process.stdout.write(`not ok - ${name} ended with ${reason}\n  ---\n  ...\n`)
  }
  return code === 0
}
