/**
 * The set of processes that this process sees and whose ids it can use: those of its machine, since
 * it was booted, and of its PID namespace (pid_namespaces(7)).
 */

import { createHash } from 'node:crypto'
import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'

let known: string | undefined

/**
 * Returns a name that two containers do not share, even if their host names are equal: the host
 * name and a digest. Without /proc it is the host name alone.
 */
export function processSpace(): string {
  known ??= readSpace()
  return known
}

/**
 * Returns true if this process sees the processes of a space. An earlier version named it by the
 * host alone.
 */
export function isThisSpace(name: string): boolean {
  return name === processSpace() || name === hostname()
}

function readSpace(): string {
  try {
    const bootId = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    const namespace = readlinkSync('/proc/self/ns/pid')
    const digest = createHash('sha256').update(`${bootId} ${namespace}`).digest('hex')
    return `${hostname()}/${digest.slice(0, 16)}`
  } catch {
    return hostname()
  }
}
