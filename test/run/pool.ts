/** Concurrent processes of a test run. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { type FileHandle, open, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { FILE_TIMEOUT_MS } from './file-result.js'
import { hasFiles, lastFileOf, type QueueEnd } from './queue.js'

/** Time without output after which a process is killed: it did not report the file's timeout. */
const SILENT_MS = FILE_TIMEOUT_MS + 30_000
const LOOK_EVERY_MS = 10_000

const PROGRAM = fileURLToPath(new URL('process.js', import.meta.url))

const ARGUMENTS = [
  // Node may never end while a function is still compiled beside it (nodejs/node#54918).
  '--no-concurrent-recompilation',
  '--enable-source-maps',
  `--import=${new URL('../helpers/unrecorded.js', import.meta.url).href}`,
  PROGRAM,
]

export interface PoolOptions {
  /** Number of processes that run concurrently. */
  readonly jobs: number
  /** Folder for the output of running processes. */
  readonly folder: string
  /** Folder of the queue with the test files. */
  readonly queue: string
  readonly environment: Readonly<Record<string, string>>
  /** Stream that gets the TAP output. */
  readonly output: Writable
}

/** Processes of a run. */
export interface Pool {
  /** Becomes true if each process has passed. */
  readonly passed: Promise<boolean>
  /** Ends the running processes and starts no further ones. */
  stop(): void
}

/** Starts processes, and writes the TAP output of each when it ends. */
export function startPool(options: PoolOptions): Pool {
  const stopping = new AbortController()
  const work = async (_: unknown, number: number): Promise<boolean> => {
    let passed = true
    // A process that crashes during a file is replaced.
    for (let turn = 0; await hasFiles(options.queue); turn += 1) {
      if (stopping.signal.aborted) return false
      const start = {
        name: `process-${number}-${turn}`,
        queueEnd: number % 2 === 0 ? 'first' : 'last',
      } as const
      const end = await runProcess(start, stopping.signal, options)
      passed &&= end.passed
      if (end.lastFile === undefined) break
    }
    return passed
  }
  const workers = Array.from({ length: options.jobs }, work)
  return {
    passed: Promise.all(workers).then((passed) => passed.every(Boolean)),
    stop: () => stopping.abort(),
  }
}

interface ProcessStart {
  readonly name: string
  readonly queueEnd: QueueEnd
}

interface ProcessEnd {
  readonly passed: boolean
  /** File that the process took last; undefined if it took none. */
  readonly lastFile: string | undefined
}

async function runProcess(
  { name, queueEnd }: ProcessStart,
  signal: AbortSignal,
  { folder, queue, environment, output }: PoolOptions,
): Promise<ProcessEnd> {
  const path = join(folder, `${name}.tap`)
  const file = await open(path, 'w')
  const child = spawn(process.execPath, [...ARGUMENTS, queueEnd], {
    stdio: ['inherit', file.fd, 'inherit'],
    // Each file has its own timeout.
    env: { ...process.env, ...environment, TAP: '1', TAP_TIMEOUT: '0' },
  })
  const { pid = 0 } = child
  const stop = () => child.kill()
  signal.addEventListener('abort', stop)
  const watch = setInterval(async () => {
    if (await isSilent(file)) child.kill('SIGKILL')
  }, LOOK_EVERY_MS)
  const [code, killedBy] = (await once(child, 'exit')) as [number | null, string | null]
  clearInterval(watch)
  signal.removeEventListener('abort', stop)
  await file.close()
  output.write(await readFile(path))
  const lastFile = await lastFileOf(queue, pid)
  if (code !== 0 && (killedBy !== null || lastFile === undefined)) {
    const name = lastFile ?? 'a process without a file'
    output.write(`not ok - ${name} ended with ${killedBy ?? code}\n  ---\n  ...\n`)
  }
  return { passed: code === 0, lastFile }
}

async function isSilent(file: FileHandle): Promise<boolean> {
  const { mtimeMs } = await file.stat()
  return FILE_TIMEOUT_MS > 0 && Date.now() - mtimeMs > SILENT_MS
}
