/** Which pushes are in flight, on disk: a restart mends the repositories of those that were cut. */

import { randomBytes } from 'node:crypto'
import { mkdir, readdir, readlink, rm, symlink } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { syncPath } from '../conf/disk.js'
import { isRunning, markProcess, type ProcessMark } from './process-table.js'
import type { RunningProcess } from './run.js'

/** The journal as one gateway process writes it. */
export interface Journal {
  /**
   * Notes a push before it changes anything. The returned function strikes it out again: to be
   * called when git ended by itself. A push that was cut off stays noted until it is mended.
   */
  record(push: {
    readonly repositoryPath: string
    /** The leader of the process group. */
    readonly pid: number
  }): Promise<() => Promise<void>>
}

/**
 * Notes a process that is about to write into a repository and waits for its input, or ends it.
 * What is returned strikes it out.
 */
export async function noteWriter(
  journal: Journal,
  repositoryPath: string,
  running: RunningProcess,
): Promise<() => Promise<void>> {
  if (running.pid === undefined) return async () => {}
  try {
    return await journal.record({ repositoryPath, pid: running.pid })
  } catch (error) {
    running.kill()
    await running.ended
    throw error
  }
}

/** A push as it was noted. */
export interface PushEntry {
  readonly host: string
  /** The gateway process that reads and writes for it. */
  readonly gateway: ProcessMark
  /** The leader of the process group that does the work. */
  readonly leader: ProcessMark
  readonly repositoryPath: string
  readonly startedAtMs: number
}

/** Opens the journal of a data folder for this process. */
export async function openJournal(dataDir: string): Promise<Journal> {
  const folder = folderOf(dataDir)
  await mkdir(folder, { recursive: true })
  await syncPath(dataDir)
  const gateway = await markProcess(process.pid)
  return {
    async record({ repositoryPath, pid }) {
      const path = join(folder, `${randomBytes(12).toString('hex')}.json`)
      const leader = await markProcess(pid)
      const startedAtMs = Date.now()
      const entry: PushEntry = { host: hostname(), gateway, leader, repositoryPath, startedAtMs }
      // Unlike a file, a link is never there in part, whenever its writer is killed.
      await symlink(JSON.stringify(entry), path)
      await syncPath(folder)
      return () => rm(path, { force: true })
    },
  }
}

/** Every push in the journal, by the file that notes it. */
export async function listPushes(dataDir: string): Promise<ReadonlyMap<string, PushEntry>> {
  const folder = folderOf(dataDir)
  const pushes = new Map<string, PushEntry>()
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
export async function isGoing({ host, gateway, leader, startedAtMs }: PushEntry): Promise<boolean> {
  if (host !== hostname()) return Date.now() - startedAtMs < PUSH_MS_MAX
  return (await isRunning(gateway)) && (await isRunning(leader))
}

const PUSH_MS_MAX = 86_400_000

function folderOf(dataDir: string): string {
  return join(dataDir, 'pushes')
}

/** Nothing for one that was struck out just now. */
function parseEntry(text: string): PushEntry | undefined {
  try {
    return JSON.parse(text) as PushEntry
  } catch {
    return undefined
  }
}
