/** Priorities of git processes: transfers and upkeep yield to requests that users wait for. */

import { writeFileSync } from 'node:fs'
import { constants, getPriority, setPriority } from 'node:os'

/** Niceness of fetches and pushes, whose cost depends on the client. The gateway itself has 0. */
export const TRANSFER_NICENESS = 5
/** Niceness of work that no client waits for. */
export const UPKEEP_NICENESS = constants.priority.PRIORITY_LOW

/**
 * Lowers the priority of a process that was just started, and of its future children. Does nothing
 * if its priority is lower, it has ended or the system refuses.
 */
export function lowerPriority(pid: number | undefined, niceness: number): void {
  if (pid === undefined) return
  try {
    if (getPriority(pid) >= niceness) return
    setPriority(pid, niceness)
    // sched(7), "The autogroup feature": the scheduler shares the CPU between sessions, and
    // niceness counts only within one. Each git process leads a session, so its autogroup is
    // changed too. Without a privilege, the kernel accepts ten such changes per second. The write
    // is synchronous: it never waits for a disk, and its promises would cost more.
    writeFileSync(`/proc/${pid}/autogroup`, String(niceness))
  } catch {
    // The process has ended, or the system refuses.
  }
}
