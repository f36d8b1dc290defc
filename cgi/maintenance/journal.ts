/** The journal of running pushes on disk, from which a restart recovers interrupted ones. */

import { randomBytes } from 'node:crypto'
import { symlinkSync, unlinkSync } from 'node:fs'
import { mkdir, readdir, readlink } from 'node:fs/promises'
import { join } from 'node:path'
import { syncPath, unlessMissingSync } from '../../conf/lib/disk.js'
import { isThisSpace, processSpace } from '../process/process-space.js'
import { isRunning, markProcess, type ProcessMark } from '../process/process-table.js'
import type { RunningProcess } from '../process/run.js'
import type { PushedChange } from '../refs/pushed-changes.js'
import { removeUpdateList, writeUpdateList } from '../refs/update-list.js'
import { Beats, hasBeaten } from './beats.js'

/** The journal as one gateway process writes it. */
export interface Journal {
  /**
   * Records a push before it changes anything. The returned function removes the entry and must be
   * called if git ended by itself. An interrupted push stays listed until it is recovered.
   */
  record(push: RecordedPush): Promise<() => Promise<void>>
}

export interface RecordedPush {
  readonly repositoryPath: string
  /** Id of the leader of the process group. */
  readonly pid: number
  /** True if the work changes no ref and writes no new object, so that pruning need not wait. */
  readonly isUpkeep?: boolean
  /** The list of ref updates that git's hooks write for a push. */
  readonly updates?: Omit<RecordedUpdates, 'writer'>
  /** Ref updates that the gateway gives to git; a list of them is written if there are several. */
  readonly changes?: readonly PushedChange[]
}

/** The list of a push's ref updates, from which recovery completes them: see update-list.ts. */
export interface RecordedUpdates {
  readonly file: string
  /** `git`: the ref names come from a client and are not checked yet. */
  readonly writer: 'git' | 'gateway'
  /** File with the changes for webhooks: see pushed-changes.ts. */
  readonly changeNote?: string | undefined
  /** The only change of a push; then there is no list. */
  readonly change?: PushedChange | undefined
}

/**
 * Records a process that waits for its input before it writes into a repository. Ends the process
 * if that fails. The returned function removes the entry.
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

/** An entry of the journal. */
export interface JournalEntry {
  /** Name of the process space of the gateway, in which the marks are valid. */
  readonly host: string
  /** The gateway process that started the work. */
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
  const gateway = markProcess(process.pid)
  const beats = new Beats(dataDir)
  return {
    async record({ repositoryPath, pid, isUpkeep = false, updates: listed, changes = [] }) {
      const path = join(folder, `${randomBytes(12).toString('hex')}.json`)
      const leader = markProcess(pid)
      const own = changes.length > 1 ? { file: `${path}.updates`, writer: GATEWAY } : undefined
      const updates = listed === undefined ? own : { ...listed, writer: GIT }
      const startedAtMs = Date.now()
      const push = { host: processSpace(), gateway, leader, repositoryPath, startedAtMs }
      const entry: JournalEntry = {
        ...push,
        ...(isUpkeep ? { isUpkeep } : {}),
        ...(updates === undefined ? {} : { updates }),
      }
      const endBeats = await beats.begin()
      try {
        // A symbolic link is created atomically: a killed writer leaves no partial entry.
        symlinkSync(JSON.stringify(entry), path)
        await syncPath(folder)
        if (own !== undefined) await writeUpdateList(own.file, changes)
      } catch (error) {
        endBeats()
        throw error
      }
      return () => removeEntry(path, entry).finally(endBeats)
    },
  }
}

const GIT = 'git' as const
const GATEWAY = 'gateway' as const

/** Removes an entry. Its list of ref updates is removed first, because only the entry names it. */
export async function removeEntry(path: string, { updates }: JournalEntry): Promise<void> {
  if (updates !== undefined) await removeUpdateList(updates.file)
  unlessMissingSync(() => unlinkSync(path))
}

/** Lists the entries of the journal by their files. */
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
 * Returns true if a push still runs, which needs both its gateway and its git. The processes of
 * other machines and containers that share the folder cannot be seen: their pushes count as running
 * while they give signs of life, and for a day at most.
 */
export async function isRunningPush(dataDir: string, push: JournalEntry): Promise<boolean> {
  if (isOfThisSpace(push)) return isRunning(push.gateway) && isRunning(push.leader)
  if (Date.now() - push.startedAtMs > PUSH_MS_MAX) return false
  // A gateway of an earlier version names the host alone and gives no signs.
  return !push.host.includes('/') || (await hasBeaten(dataDir, push.host))
}

/** Returns true if this process can see the processes of the entry. */
export function isOfThisSpace({ host }: JournalEntry): boolean {
  return isThisSpace(host)
}

const PUSH_MS_MAX = 86_400_000

function folderOf(dataDir: string): string {
  return join(dataDir, 'pushes')
}

/** Parses an entry; undefined if it was removed meanwhile. */
function parseEntry(text: string): JournalEntry | undefined {
  try {
    return JSON.parse(text) as JournalEntry
  } catch {
    return undefined
  }
}
