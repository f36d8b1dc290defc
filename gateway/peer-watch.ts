/**
 * Watch over the other gateways of a data folder: takes over the socket for SSH of one that has
 * ended, recovers its interrupted pushes, and removes what others have removed from their caches.
 */

import { isOfThisSpace, isRunningPush, listJournalEntries } from '../cgi/maintenance/journal.js'
import { recover } from '../cgi/maintenance/recovery.js'
import { isRunning } from '../cgi/process/process-table.js'
import type { Log } from '../conf/log.js'
import type { Settings } from '../conf/settings.js'
import { CacheRemovals } from './packs/cache-removals.js'
import { claimSocket, type SshSocket } from './ssh/socket-file.js'

const SOCKET_MS = 2_000
const PUSHES_MS = 10_000
const REMOVALS_MS = 10_000

/** Starts the watch. Returns a function that ends it. */
export function watchPeers(
  { data, cache }: Pick<Settings, 'data' | 'cache'>,
  { socket, log }: { readonly socket: SshSocket; readonly log: Log },
): () => void {
  const takeOver = async () => {
    if ((await claimSocket(socket)) !== 'claimed') return
    log.info({ path: socket.path }, 'the socket for SSH was taken over')
  }
  const removals = new CacheRemovals(data.dir, cache.dir)
  const watches = [
    repeat(SOCKET_MS, log, takeOver),
    repeat(PUSHES_MS, log, () => recoverDeadPeers(data.dir, log)),
    repeat(REMOVALS_MS, log, () => removals.follow()),
  ]
  return () => {
    for (const watch of watches) clearInterval(watch)
  }
}

/** Calls `work` at intervals, unless the last call is still running. */
function repeat(everyMs: number, log: Log, work: () => Promise<void>): NodeJS.Timeout {
  let isAtWork = false
  const run = async () => {
    if (isAtWork) return
    isAtWork = true
    try {
      await work()
    } catch (error) {
      log.error({ error }, 'the watch over other gateways failed')
    }
    isAtWork = false
  }
  return setInterval(run, everyMs).unref()
}

/**
 * Recovers pushes if a gateway process has ended and left some. Pushes of this machine whose git
 * alone has ended are about to be removed by their own gateway.
 */
async function recoverDeadPeers(dataDir: string, log: Log): Promise<void> {
  for (const push of (await listJournalEntries(dataDir)).values()) {
    const isLeft = isOfThisSpace(push)
      ? !isRunning(push.gateway)
      : !(await isRunningPush(dataDir, push))
    if (!isLeft) continue
    const repositories = await recover(dataDir, log)
    log.warn({ repositories }, 'pushes of a gateway that has ended were recovered')
    return
  }
}
