/** Checks of an installation that a running server can repeat, and its warnings at the start. */

import type { Log } from '../../conf/log.js'
import type { Settings } from '../../conf/settings.js'
import { checkAddress } from './address.js'
import { checkBackups } from './backups.js'
import { checkBlobs } from './blobs.js'
import { checkFileSystem } from './file-system.js'
import { checkDisk, checkLimits } from './machine.js'
import { checkSendfile } from './sendfile.js'
import { checkTls } from './tls.js'

/** Check of one part. Its result is printed; an error it throws is a fault. */
export interface Check {
  readonly name: string
  /** Rejects if `stopped` is aborted. */
  readonly run: (settings: Settings, stopped?: AbortSignal) => Promise<string>
}

/** Checks of faults with which a server starts without a warning of its own. */
export const SERVING_CHECKS: readonly Check[] = [
  { name: 'address', run: checkAddress },
  { name: 'disk', run: checkDisk },
  { name: 'blobs', run: checkBlobs },
  { name: 'backups', run: checkBackups },
  { name: 'limits', run: checkLimits },
  { name: 'certificate', run: checkTls },
  { name: 'sendfile', run: checkSendfile },
  { name: 'file system', run: checkFileSystem },
]

export interface WarningOptions {
  readonly log: Log
  readonly stopped: AbortSignal
}

/** Logs a warning for each fault with which a server runs, but serves its users badly. */
export async function warnOfFaults(
  settings: Settings,
  { log, stopped }: WarningOptions,
): Promise<void> {
  for (const { name, run } of SERVING_CHECKS) {
    const fault = await run(settings, stopped).then(() => undefined, messageOf)
    if (stopped.aborted) return
    if (fault !== undefined) log.warn({ check: name }, fault)
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
