/** Listening sockets of this machine, read from /proc. */

import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'

const POLL_MS = 200
/** State of a listening socket in /proc/net/tcp (proc(5)). */
const LISTEN = '0A'

/**
 * Waits until a socket listens on the port in addition to the `ownCount` sockets of this program.
 * Returns false if none does within `withinMs`, and always on a system without /proc.
 */
export async function untilOthersListen(
  port: number,
  { ownCount, withinMs }: { readonly ownCount: number; readonly withinMs: number },
): Promise<boolean> {
  const startedAtMs = performance.now()
  for (;;) {
    if ((await countListeners(port)) > ownCount) return true
    if (performance.now() - startedAtMs >= withinMs) return false
    await sleep(POLL_MS)
  }
}

/**
 * Returns the number of this user's sockets that listen on the port. Other users' are not counted:
 * with SO_REUSEPORT only processes of the same user can share a port.
 */
export async function countListeners(port: number): Promise<number> {
  const tables = await Promise.all(['/proc/net/tcp', '/proc/net/tcp6'].map(readLines))
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  return tables.flat().filter((line) => {
    const [, local = '', , state, , , , uid] = line.trim().split(/\s+/)
    return local.endsWith(suffix) && state === LISTEN && Number(uid) === process.geteuid?.()
  }).length
}

async function readLines(path: string): Promise<readonly string[]> {
  return (await readFile(path, 'utf8').catch(() => '')).split('\n')
}
