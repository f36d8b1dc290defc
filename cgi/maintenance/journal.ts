/** The journal of running pushes, on disk: a restart recovers those that were interrupted. */

import { randomBytes } from 'node:crypto'
import { mkdir, readdir, readlink, rm, symlink } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { syncPath } from '../../conf/disk.js'
import { isRunning, markProcess, type ProcessMark } from '../process/process-table.js'
import type { RunningProcess } from '../process/run.js'
import type { PushedChange } from '../refs/pushed-changes.js'
import { removeUpdateList, writeUpdateList } from '../refs/update-list.js'

/** The journal as one gateway process writes it. */
export interface Journal {
  /**
   * Notes a push before it changes anything. The returned function strikes it out again: to be
   * called when git ended by itself. An interrupted push stays listed until it is recovered.
   */
  record(push: RecordedPush): Promise<() => Promise<void>>
}

export interface RecordedPush {
  readonly repositoryPath: string
  /** The leader of the process group. */
  readonly pid: number
  /** The work moves no reference and writes no new object, so pruning does not wait for it. */
  readonly isUpkeep?: boolean
  /** The list that git's hooks write for a push. */
  readonly updates?: Omit<RecordedUpdates, 'writer'>
  /** The ref updates that we give to the process; a list is written if there are several. */
  readonly changes?: readonly PushedChange[]
}

/** The list of a push's ref updates, from which recovery completes them: see update-list.ts. */
export interface RecordedUpdates {
  readonly file: string
  /** `git`: the names are those of a client, and not checked yet. */
  readonly writer: 'git' | 'gateway'
  /** File that tells webhooks of the push: see pushed-changes.ts. */
  readonly changeNote?: string | undefined
}

/**
 * Notes a process that is about to write into a repository and waits for its input, or ends it.
 * What is returned strikes it out.
 */
export async function recordWriter(
  journal: Journal,
  repositoryPath: string,
  running: RunningProcess,
  changes: readonly PushedChange[] = [],
): Promise<() => Promise<void>> {
  if (running.pid === undefined) return async () => {}
  try {
    return await journal.record({ repositoryPath, pid: running.pid, changes })
  } catch (error) {
    running.kill()
    await running.ended
    throw error
  }
}

/** A push as it was noted. */
export interface JournalEntry {
  readonly host: string
  /** The gateway process that reads and writes for it. */
  readonly gateway: ProcessMark
  /** The leader of the process group that does the work. */
  readonly leader: ProcessMark
  readonly repositoryPath: string
  readonly startedAtMs: number
  readonly updates?: RecordedUpdates | undefined
  readonly isUpkeep?: boolean
}

/** Opens the journal of a data folder for this process. */
export async function openJournal(dataDir: string): Promise<Journal> {
  const folder = folderOf(dataDir)
  await mkdir(folder, { recursive: true })
  await syncPath(dataDir)
  const gateway = await markProcess(process.pid)
  return {
    async record({ repositoryPath, pid, isUpkeep = false, updates: listed, changes = [] }) {
      const path = join(folder, `${randomBytes(12).toString('hex')}.json`)
      const leader = await markProcess(pid)
      const own = changes.length > 1 ? { file: `${path}.updates`, writer: GATEWAY } : undefined
      const updates = listed === undefined ? own : { ...listed, writer: GIT }
      const startedAtMs = Date.now()
      const push = { host: hostname(), gateway, leader, repositoryPath, startedAtMs }
      const entry: JournalEntry = {
        ...push,
        ...(isUpkeep ? { isUpkeep } : {}),
        ...(updates === undefined ? {} : { updates }),
      }
      // Unlike a file, a link is never there in part, whenever its writer is killed.
      await symlink(JSON.stringify(entry), path)
      await syncPath(folder)
      if (own !== undefined) await writeUpdateList(own.file, changes)
      return () => removeEntry(path, entry)
    },
  }
}

const GIT = 'git' as const
const GATEWAY = 'gateway' as const

/** Removes an entry with its list of ref updates. The list goes first: no entry would name it. */
export async function removeEntry(path: string, { updates }: JournalEntry): Promise<void> {
  if (updates !== undefined) await removeUpdateList(updates.file)
  await rm(path, { force: true })
}

/** Every push in the journal, by the file that notes it. */
export async function listJournalEntries(
  dataDir: string,
): Promise<ReadonlyMap<string, JournalEntry>> {
  const folder = folderOf(dataDir)
  const pushes = new Map<string, JournalEntry>()
  for (const name of await readdir(folder).catch(() => [])) {
    const path = join(folder, name)
    const entry = parseEntry(await readlink(path).catch(() => ''))
    if (entry !== undefined) pushes.set(path, entry)
  }
  return pushes
}

/**
 * Whether a push is still at work: its gateway and its git both run. A machine that shares the
 * folder cannot be asked, but no push lasts a day.
 */
export async function isRunningPush({
  host,
  gateway,
  leader,
  startedAtMs,
}: JournalEntry): Promise<boolean> {
  if (host !== hostname()) return Date.now() - startedAtMs < PUSH_MS_MAX
  return (await isRunning(gateway)) && (await isRunning(leader))
}

const PUSH_MS_MAX = 86_400_000

function folderOf(dataDir: string): string {
  return join(dataDir, 'pushes')
}

/** Nothing for one that was struck out just now. */
function parseEntry(text: string): JournalEntry | undefined {
  try {
    return JSON.parse(text) as JournalEntry
  } catch {
    return undefined
  }
}
