/** Processor time of a thread of this process, read from /proc on Linux. */

import { readFileSync, readlinkSync } from 'node:fs'

/** Returns the path of the calling thread's stat file, or undefined on other systems. */
export function ownStatFile(): string | undefined {
  if (process.platform !== 'linux') return undefined
  return `/proc/${readlinkSync('/proc/thread-self')}/stat`
}

/** Milliseconds per clock tick (sysconf(3), _SC_CLK_TCK), which are 100 a second on Linux. */
export const TICK_MS = 10

/** Returns the processor time of the thread in milliseconds (proc_pid_stat(5), utime and stime). */
export function threadCpuMs(statFile: string): number {
  // The name of the thread is in parentheses and may contain any character.
  const [, fields = ''] = /\) (.*)/s.exec(readFileSync(statFile, 'utf8')) ?? []
  const [userTicks, systemTicks] = fields.split(' ').slice(11, 13).map(Number)
  return ((userTicks ?? 0) + (systemTicks ?? 0)) * TICK_MS
}
