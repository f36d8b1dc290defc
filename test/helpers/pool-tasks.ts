/** Worker thread module with tasks that exceed each limit of a pool. */

import { Failure } from '../../conf/failures.js'
import type { Tasks } from '../../gateway/pool/pool.js'
import { serveTasks } from '../../gateway/pool/thread.js'

const TASKS = {
  echo: (input: unknown) => input,
  thread: () => describeThread(),
  spin: (isForEver: boolean) => {
    while (isForEver);
  },
  sleep: (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms)),
  backtrack: (length: number) => /^(?:a|a)*b$/.test('a'.repeat(length)),
  fillHeap: (fills: boolean) => {
    const kept: unknown[] = []
    while (fills) kept.push({ some: kept.length, more: [kept.length] })
  },
  refuse: (message: string) => {
    throw new Failure('bad_request', message)
  },
  break: (message: string) => {
    throw new TypeError(message)
  },
  exit: (code: number) => process.exit(code),
} as const satisfies Tasks

export type TestTasks = typeof TASKS

/** Returns folder, nice value (proc_pid_stat(5)), environment and options of the thread. */
async function describeThread() {
  const { readFileSync, readlinkSync } = await import('node:fs')
  const folder = `/proc/${readlinkSync('/proc/thread-self')}`
  const fields = readFileSync('/proc/thread-self/stat', 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ')
  const nice = Number(fields[16])
  return { folder, nice, environment: Object.keys(process.env), options: process.execArgv }
}

serveTasks(TASKS)
