/** Moves of existing branches without a process, as git stores refs in files. */

import { closeSync, existsSync, openSync, renameSync, rmSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { syncFile, syncPath } from '../../conf/lib/disk.js'
import { hasUsualSettings, readPresentState } from '../repository/repository-state.js'
import { readReference } from './read-reference.js'

/** Move of a branch from one commit of the repository to another one. */
export interface BranchMove {
  /** A full name that was checked, such as `refs/heads/main`. */
  readonly name: string
  readonly before: string
  readonly after: string
}

/**
 * Moves a branch under git's lock of the ref, and flushes it to disk. Returns false if nothing was
 * changed and git must do it: if the branch is elsewhere, locked, or a symbolic ref, or if the
 * repository has reflogs or settings of its own. Must be in the journal, for the lock.
 */
export async function tryToMoveBranch(
  path: string,
  { name, before, after }: BranchMove,
): Promise<boolean> {
  const state = readPresentState(path)
  if (state === undefined || !hasUsualSettings(state)) return false
  if (existsSync(join(path, 'logs'))) return false
  const file = join(path, name)
  const isRenamed = await underLock(`${file}.lock`, async (lock) => {
    if ((await readReference(path, name))?.id !== before) return false
    writeSync(lock, `${after}\n`)
    await syncFile(lock)
    renameSync(`${file}.lock`, file)
    return true
  })
  if (isRenamed) await syncPath(dirname(file))
  return isRenamed
}

/** Runs `rename` with the file of a new lock, which is removed if it returns false or fails. */
async function underLock(path: string, rename: (lock: number) => Promise<boolean>) {
  let lock: number
  try {
    lock = openSync(path, 'wx')
  } catch {
    // Another process has the lock, or the folder is missing because git has packed its refs.
    return false
  }
  let isRenamed = false
  try {
    isRenamed = await rename(lock)
  } catch {
    // Git tries again and reports the error, such as a full disk.
  } finally {
    closeSync(lock)
    if (!isRenamed) rmSync(path, { force: true })
  }
  return isRenamed
}
