/** Lock of a backup folder, which ends with its process. */

import { open, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { isThisSpace, processSpace } from '../../cgi/process/process-space.js'
import { isRunning, markProcess, type ProcessMark } from '../../cgi/process/process-table.js'
import { unlessMissing } from '../../conf/lib/disk.js'

interface Owner {
  /** Process space of the process. */
  readonly host: string
  readonly process: ProcessMark
}

/** Runs `work` as the only process that changes the folder. Throws an Error if there is another. */
export async function underBackupLock<T>(dir: string, work: () => Promise<T>): Promise<T> {
  const path = join(dir, 'lock')
  await take(path)
  try {
    return await work()
  } finally {
    await rm(path, { force: true })
  }
}

async function take(path: string): Promise<void> {
  for (;;) {
    try {
      const file = await open(path, 'wx', 0o600)
      const owner: Owner = { host: processSpace(), process: markProcess(process.pid) }
      await file.writeFile(JSON.stringify(owner))
      await file.close()
      return
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
    }
    await removeStale(path)
  }
}

/** Removes the lock of a killed process. Throws an Error if its process may be running. */
async function removeStale(path: string): Promise<void> {
  const text = await unlessMissing(readFile(path, 'utf8'))
  if (text === undefined) return
  // A process that was killed between creation and writing leaves an empty file.
  const owner = text === '' ? undefined : (JSON.parse(text) as Owner)
  if (owner !== undefined && (!isThisSpace(owner.host) || isRunning(owner.process))) {
    const { host, process } = owner
    throw new Error(
      `process ${process.pid} on ${host} uses the folder; if it has ended, remove ${path}`,
    )
  }
  await rm(path, { force: true })
}
