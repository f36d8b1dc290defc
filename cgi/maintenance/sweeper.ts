/** Removes the stale files that crashes left among the repositories, after a grace period. */

import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { CRASH_GRACE_MS, unlessMissing } from '../../conf/lib/disk.js'
import { listProcesses } from '../process/process-table.js'
import { repositoryShardsFolder } from '../repository/paths.js'
import { isRunningPush, type JournalEntry, listJournalEntries } from './journal.js'
import { removeDead } from './recovery.js'
import { listStaleFiles, readStaleFile } from './stale-files.js'

/** Name of a repository that was being created (`new`) or removed (`trash`): see repository.ts. */
const UNFINISHED_REPOSITORY = /^[0-9a-f]{32}(?:\.wiki)?\.git\.(?:new|trash)-[0-9a-f]{12}$/
const REPOSITORY = /^[0-9a-f]{32}(?:\.wiki)?\.git$/

export interface RepositorySweep {
  readonly signal?: AbortSignal
  /** Returns true while a backup copies repositories, which may need a deleted one. */
  readonly isHeld: () => Promise<boolean>
}

/** Sweeps all repositories and unfinished ones; returns the removed paths. */
export async function sweepRepositories(
  dataDir: string,
  { signal, isHeld }: RepositorySweep,
): Promise<readonly string[]> {
  const removed: string[] = []
  for await (const { path, name } of listFolders(dataDir)) {
    if (signal?.aborted) return removed
    if (REPOSITORY.test(name)) removed.push(...(await sweepRepository(dataDir, path)))
    if (!UNFINISHED_REPOSITORY.test(name) || !isOld(await readStaleFile(path))) continue
    if (await isHeld()) continue
    await rm(path, { recursive: true, force: true, maxRetries: 3 })
    removed.push(path)
  }
  return removed
}

/** Returns the paths of unfinished repositories that have not changed for that time. */
export async function listUnfinished(dataDir: string, ageMs: number): Promise<readonly string[]> {
  const left: string[] = []
  for await (const { path, name } of listFolders(dataDir)) {
    if (!UNFINISHED_REPOSITORY.test(name)) continue
    if ((await readStaleFile(path)).changedAtMs < Date.now() - ageMs) left.push(path)
  }
  return left
}

async function* listFolders(dataDir: string) {
  const shards = repositoryShardsFolder(dataDir)
  for (const shard of (await unlessMissing(readdir(shards))) ?? []) {
    const folder = join(shards, shard)
    for (const name of (await unlessMissing(readdir(folder))) ?? []) {
      yield { path: join(folder, name), name }
    }
  }
}

/**
 * Sweeps one repository; returns the removed paths. Crash recovery handles pushes of the journal
 * sooner; this finds the files of others, such as a push over SSH that was killed.
 */
export async function sweepRepository(dataDir: string, path: string): Promise<readonly string[]> {
  const old = new Map([...(await listStaleFiles(path))].filter(([, staleFile]) => isOld(staleFile)))
  if (old.size === 0) return []
  const runningPushes: JournalEntry[] = []
  for (const push of (await listJournalEntries(dataDir)).values()) {
    if (await isRunningPush(dataDir, push)) runningPushes.push(push)
  }
  return removeDead(path, old, { processes: await listProcesses(), runningPushes })
}

function isOld({ changedAtMs }: { readonly changedAtMs: number }): boolean {
  return changedAtMs > 0 && changedAtMs < Date.now() - CRASH_GRACE_MS
}
