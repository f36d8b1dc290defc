/** Ends process groups: SIGTERM first, then SIGKILL. */

import { setTimeout as delay } from 'node:timers/promises'
import { hasRunningMember } from './process-table.js'

/** Milliseconds after SIGTERM in which git can remove its locks and quarantine. */
const TERMINATE_GRACE_MS = 500

/** Maximum milliseconds to wait for the end of a group after SIGKILL. */
const KILL_GRACE_MS = 400

/** Ends a process group: SIGTERM, and SIGKILL half a second later. Settles when it has ended. */
export async function endProcessGroup(groupId: number): Promise<void> {
  if (!signalGroup(groupId, 'SIGTERM')) return
  if (await hasEndedWithin(groupId, TERMINATE_GRACE_MS)) return
  signalGroup(groupId, 'SIGKILL')
  await hasEndedWithin(groupId, KILL_GRACE_MS)
}

async function hasEndedWithin(groupId: number, graceMs: number): Promise<boolean> {
  const deadline = performance.now() + graceMs
  for (let pauseMs = 5; performance.now() < deadline; pauseMs *= 2) {
    await delay(Math.min(pauseMs, Math.max(1, deadline - performance.now())))
    if (!signalGroup(groupId, 0)) return true
    // In a container whose first process does not reap children, ended processes stay as zombies.
    // Finding those means scanning /proc, so this starts after 20 ms; most groups end sooner.
    if (pauseMs >= 20 && (await hasRunningMember(groupId)) === false) return true
  }
  return false
}

/** Sends a signal. Returns false if the group has no member left that can be signalled. */
function signalGroup(groupId: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-groupId, signal)
  } catch {
    return false
  }
}
