/** Crash recovery of pushes: removes locks and partial packs, and completes ref updates. */

import { realpath, rm } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { unlessMissing } from '../../conf/lib/disk.js'
import type { Log } from '../../conf/log.js'
import { endProcessGroup } from '../process/process-group.js'
import { isRunning, listProcesses, type ProcessRow } from '../process/process-table.js'
import { completeUpdates } from '../refs/complete-updates.js'
import {
  isOfThisSpace,
  isRunningPush,
  type JournalEntry,
  listJournalEntries,
  removeEntry,
} from './journal.js'
import { listStaleFiles, readStaleFile, type StaleFile } from './stale-files.js'

/** Ref locks are held for moments only: one that is unchanged for this long may be stale. */
const UNCHANGED_MS = 1_000

/** Number of further scans of the repositories in which another process is writing. */
const SCANS_MAX = 5

/**
 * Ends the processes of interrupted pushes and recovers their repositories, whose paths it returns.
 * A push that changed some of its refs is completed. Safe beside running gateways and pushes over
 * SSH. Must be called at startup, after the death of a worker, and after an interrupted push. Files
 * that another process may be writing are kept, and so is the journal entry of the push.
 */
export async function recover(dataDir: string, log?: Log): Promise<readonly string[]> {
  const runningPushes: JournalEntry[] = []
  const cut = new Map<string, JournalEntry>()
  for (const [file, push] of await listJournalEntries(dataDir)) {
    if (await isRunningPush(dataDir, push)) runningPushes.push(push)
    else cut.set(file, push)
  }
  await Promise.all([...cut.values()].map(endLeftGroup))
  const repositories = new Set([...cut.values()].map((push) => push.repositoryPath))
  const recovered = await recoverRepositories([...repositories], runningPushes)
  const incomplete = new Set<string>()
  for (const [file, push] of [...cut].sort(byStart)) {
    if (!recovered.includes(push.repositoryPath)) continue
    try {
      await completeUpdates(push, log)
      await removeEntry(file, push)
    } catch (error) {
      incomplete.add(push.repositoryPath)
      log?.error({ error, path: push.repositoryPath }, 'interrupted push not completed')
    }
  }
  return recovered.filter((repository) => !incomplete.has(repository))
}

function byStart([, one]: CutPush, [, other]: CutPush): number {
  return one.startedAtMs - other.startedAtMs
}

type CutPush = readonly [file: string, push: JournalEntry]

/** Ends the process group of an interrupted push, unless its id belongs to a new group by now. */
async function endLeftGroup(push: JournalEntry): Promise<void> {
  if (!isOfThisSpace(push)) return
  const { leader } = push
  if (isRunning(leader)) return endProcessGroup(leader.pid)
  // The leader has ended. The group is the same if it runs git and has no new leader.
  const members = (await listProcesses()).filter((row) => row.groupId === leader.pid)
  const isLeft = members.every((row) => row.pid !== leader.pid && /^\S*git/.test(row.command))
  if (members.length > 0 && isLeft) await endProcessGroup(leader.pid)
}

/** Removes the stale files of repositories. Returns the repositories that have none left. */
async function recoverRepositories(
  repositories: readonly string[],
  runningPushes: readonly JournalEntry[],
): Promise<readonly string[]> {
  let pending = await findStaleFiles(repositories)
  for (let scan = 0; pending.size > 0 && scan < SCANS_MAX; scan += 1) {
    await delay(UNCHANGED_MS)
    const processes = await listProcesses()
    for (const [repository, staleFiles] of pending) {
      await removeDead(repository, staleFiles, { processes, runningPushes })
    }
    pending = await findStaleFiles([...pending.keys()])
  }
  return repositories.filter((repository) => !pending.has(repository))
}

/** Returns the stale files of the repositories that have some. */
async function findStaleFiles(
  repositories: readonly string[],
): Promise<ReadonlyMap<string, ReadonlyMap<string, StaleFile>>> {
  const found = new Map<string, ReadonlyMap<string, StaleFile>>()
  for (const repository of repositories) {
    const staleFiles = await listStaleFiles(repository)
    if (staleFiles.size > 0) found.set(repository, staleFiles)
  }
  return found
}

/** Processes and pushes that may be writing into some repository. */
export interface Others {
  readonly processes: readonly ProcessRow[]
  readonly runningPushes: readonly JournalEntry[]
}

/** Removes stale files that are unchanged and older than every process that writes there. */
export async function removeDead(
  repository: string,
  staleFiles: ReadonlyMap<string, StaleFile>,
  others: Others,
): Promise<readonly string[]> {
  const writers = await listWriters(repository, others)
  const firstWriterMs = Math.min(...writers.map((each) => each.startedAtMs - CLOCK_GRAIN_MS))
  const removed: string[] = []
  for (const [path, before] of staleFiles) {
    const now = await readStaleFile(path)
    const isUnchanged = now.fingerprint === before.fingerprint
    // A writer that started after the last change of the file did not make it.
    if (!isUnchanged || now.changedAtMs >= firstWriterMs) continue
    await rm(path, { recursive: true, force: true })
    removed.push(path)
  }
  return removed
}

/** Returns the writers of a repository: git processes in its folder, and journaled pushes. */
async function listWriters(
  repository: string,
  { processes, runningPushes }: Others,
): Promise<ReadonlyArray<{ readonly startedAtMs: number }>> {
  const folder = await unlessMissing(realpath(repository))
  return [
    ...processes.filter((row) => row.folder === folder && !READER.test(row.command)),
    ...runningPushes.filter((push) => push.repositoryPath === repository),
  ]
}

/** The commands that clones and pages run, which write nothing. */
const READER = /upload-pack|http-backend|cat-file|--stdout/

/** Tolerance for start times: the boot time is in seconds, and file servers have other clocks. */
const CLOCK_GRAIN_MS = 2_000
