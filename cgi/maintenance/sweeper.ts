/** Removes what crashes left among the repositories, an hour later, when it cannot be of use. */

import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { unlessMissing } from '../../conf/disk.js'
import { CRASH_GRACE_MS } from '../../conf/limits.js'
import { listProcesses } from '../process/process-table.js'
import { shelvesFolder } from '../repository/paths.js'
import { isGoing, listPushes, type PushEntry } from './journal.js'
import { removeDead } from './recovery.js'
import { listLeavings, readLeaving } from './stale-files.js'

/** A repository that was being made (`new`) or removed (`trash`): see repository.ts. */
const UNFINISHED_REPOSITORY = /^[0-9a-f]{32}\.git\.(?:new|trash)-[0-9a-f]{12}$/
const REPOSITORY = /^[0-9a-f]{32}\.git$/

/** Sweeps every repository and what lies beside them; returns what it removed. */
export async function sweepRepositories(
  dataDir: string,
  signal?: AbortSignal,
): Promise<readonly string[]> {
  const removed: string[] = []
  for (const shelf of (await unlessMissing(readdir(shelvesFolder(dataDir)))) ?? []) {
    const folder = join(shelvesFolder(dataDir), shelf)
    for (const name of (await unlessMissing(readdir(folder))) ?? []) {
      if (signal?.aborted) return removed
      const path = join(folder, name)
      if (REPOSITORY.test(name)) removed.push(...(await sweepRepository(dataDir, path)))
      if (!UNFINISHED_REPOSITORY.test(name) || !isOld(await readLeaving(path))) continue
      await rm(path, { recursive: true, force: true, maxRetries: 3 })
      removed.push(path)
    }
  }
  return removed
}

/**
 * Sweeps one repository; returns what it removed. The journal finds what a gateway's end left, and
 * sooner: this is for what nobody noted, such as a push over SSH that was killed.
 */
export async function sweepRepository(dataDir: string, path: string): Promise<readonly string[]> {
  const old = new Map([...(await listLeavings(path))].filter(([, leaving]) => isOld(leaving)))
  if (old.size === 0) return []
  const going: PushEntry[] = []
  for (const push of (await listPushes(dataDir)).values()) {
    if (await isGoing(push)) going.push(push)
  }
  return removeDead(path, old, { processes: await listProcesses(), going })
}

function isOld({ changedAtMs }: { readonly changedAtMs: number }): boolean {
  return changedAtMs > 0 && changedAtMs < Date.now() - CRASH_GRACE_MS
}
