/** Check that a server's memory does not grow with the data that it transfers. */

import type { Test } from 'tap'
import type { Gatehouse } from './gatehouse.js'
import { peaksDuring, workersOf } from './server-processes.js'

const MIB = 1_048_576
const WORKER_BYTES_MAX = 150 * MIB

/** Runs the action; fails the test if a worker's memory exceeds the limit. */
export async function stayFlat(
  t: Test,
  gatehouse: Gatehouse,
  what: string,
  action: () => Promise<void>,
): Promise<void> {
  const workers = await workersOf(gatehouse.pid)
  const startedAtMs = Date.now()
  const peaks = await peaksDuring(workers, action)
  const mib = peaks.map((bytes) => Math.round(bytes / MIB)).join(' and ')
  t.ok(Math.max(...peaks) < WORKER_BYTES_MAX, `workers stay small during ${what}: ${mib} MiB`)
  t.comment(`${what}: workers at most ${mib} MiB, in ${Date.now() - startedAtMs} ms`)
  t.strictSame(await workersOf(gatehouse.pid), workers, 'no worker died')
}
