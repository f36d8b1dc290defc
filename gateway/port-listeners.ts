/** Which sockets listen on a port of this machine, as /proc has it. */

import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'

const LOOK_MS = 200
/** proc(5), /proc/net/tcp: the state of a socket that listens. */
const LISTEN = '0A'

/**
 * Waits for a process that listens on the port besides `ownCount` sockets of this program. Returns
 * false when none does within the time; always false on a system without /proc.
 */
export async function untilOthersListen(
  port: number,
  { ownCount, withinMs }: { readonly ownCount: number; readonly withinMs: number },
): Promise<boolean> {
  const startedAtMs = performance.now()
  for (;;) {
    if ((await countListeners(port)) > ownCount) return true
    if (performance.now() - startedAtMs >= withinMs) return false
    await sleep(LOOK_MS)
  }
}

/** The kernel lets a port be shared by processes of one user alone. */
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
