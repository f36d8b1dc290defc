/** How a process group ends: asked first, then made to. */

import { setTimeout as delay } from 'node:timers/promises'
import { hasRunningMember } from './process-table.js'

/** What a group gets to clean up after SIGTERM: git removes its locks and quarantine then. */
const TERMINATE_GRACE_MS = 500

/** What the kernel gets to carry out SIGKILL before we stop watching. */
const KILL_GRACE_MS = 400

/** Ends a process group: SIGTERM, and SIGKILL half a second later. Settles when it is gone. */
export async function endProcessGroup(groupId: number): Promise<void> {
  if (!signalGroup(groupId, 'SIGTERM')) return
  if (await isGoneWithin(groupId, TERMINATE_GRACE_MS)) return
  signalGroup(groupId, 'SIGKILL')
  await isGoneWithin(groupId, KILL_GRACE_MS)
}

async function isGoneWithin(groupId: number, graceMs: number): Promise<boolean> {
  const deadline = performance.now() + graceMs
  for (let pauseMs = 5; performance.now() < deadline; pauseMs *= 2) {
    await delay(Math.min(pauseMs, Math.max(1, deadline - performance.now())))
    if (!signalGroup(groupId, 0)) return true
    // In a container whose first process reaps nobody, the dead stay on as zombies. To look for
    // those costs a walk through /proc, so not in the first moments, in which most are gone.
    if (pauseMs >= 20 && (await hasRunningMember(groupId)) === false) return true
  }
  return false
}

/** False when the group has no member left that a signal could reach. */
function signalGroup(groupId: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-groupId, signal)
  } catch {
    return false
  }
}
