/** The processor time of a thread of this process, as Linux tells it to its other threads. */

import { readFileSync, readlinkSync } from 'node:fs'

/** Returns the file that tells about the calling thread, or undefined if there is none. */
export function ownStatFile(): string | undefined {
  if (process.platform !== 'linux') return undefined
  return `/proc/${readlinkSync('/proc/thread-self')}/stat`
}

/** Milliseconds of a tick of the clock (sysconf(3), _SC_CLK_TCK): 100 a second on every Linux. */
export const TICK_MS = 10

/** Returns the milliseconds that the thread has run so far (proc_pid_stat(5), utime and stime). */
export function threadCpuMs(statFile: string): number {
  // The name of the thread stands in parentheses and may hold anything.
  const [, fields = ''] = /\) (.*)/s.exec(readFileSync(statFile, 'utf8')) ?? []
  const [userTicks, systemTicks] = fields.split(' ').slice(11, 13).map(Number)
  return ((userTicks ?? 0) + (systemTicks ?? 0)) * TICK_MS
}
