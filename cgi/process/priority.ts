/** Priorities of git processes: what a client or a person waits for goes before long work. */

import { writeFile } from 'node:fs/promises'
import { constants, setPriority } from 'node:os'

/** Fetches and pushes, whose cost their clients choose. The gateway itself has 0. */
export const TRANSFER_NICENESS = 5
/** Work for which nobody waits. */
export const UPKEEP_NICENESS = constants.priority.PRIORITY_LOW

/**
 * Lowers the priority of a process that was just started, and of all that it starts. Does nothing
 * if it has ended, or on a system that refuses.
 */
export function lowerPriority(pid: number | undefined, niceness: number): void {
  if (pid === undefined) return
  try {
    setPriority(pid, niceness)
  } catch {
    return
  }
  // sched(7), "The autogroup feature": each session has a share of its own, whatever the niceness
  // of its processes, and each of our git processes leads a session. Without a privilege the kernel
  // takes ten of these changes each second.
  writeFile(`/proc/${pid}/autogroup`, String(niceness)).catch(() => {})
}
