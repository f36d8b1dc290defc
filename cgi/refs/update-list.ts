/** Lists of ref updates of pushes on disk, which are complete before any ref changes. */

import { randomBytes } from 'node:crypto'
import { existsSync, statSync } from 'node:fs'
import { open, readdir, readFile, rm, stat, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { syncPath, unlessMissing } from '../../conf/lib/disk.js'
import type { Git, GitSetting } from '../process/git.js'
import { formatChange, type PushedChange, parseChanges } from './pushed-changes.js'

/** A list that git's hooks write, and the options of git that make them do so. */
export interface UpdateList {
  /** Absent until git has accepted a push of several refs. Empty when all refs have changed. */
  readonly file: string
  readonly config: readonly GitSetting[]
  readonly variables: Readonly<Record<string, string>>
}

/** Chooses the file for the list of one push, which conf/git-hooks/pre-receive creates. */
export function prepareUpdateList(git: Git, dataDir: string): UpdateList {
  const file = join(folderOf(dataDir), `${randomBytes(12).toString('hex')}.updates`)
  return {
    file,
    config: [['core.hooksPath', join(dirname(git.configFile), 'git-hooks')]],
    variables: { GATEHOUSE_UPDATES: file },
  }
}

/**
 * Reads a list. Returns undefined unless it is complete, which its last line shows: the path of the
 * file. A client that sends ref names with line breaks does not know that path.
 */
export async function readUpdateList(file: string): Promise<readonly PushedChange[] | undefined> {
  const text = await unlessMissing(readFile(file, 'utf8'))
  return text?.endsWith(`\n${file}\n`) ? parseChanges(text.split('\n')) : undefined
}

/** Writes a complete list, and flushes it to disk. */
export async function writeUpdateList(
  file: string,
  changes: readonly PushedChange[],
): Promise<void> {
  const handle = await open(file, 'wx')
  try {
    await handle.writeFile([...changes.map(formatChange), file, ''].join('\n'))
    await handle.sync()
  } finally {
    await handle.close()
  }
  await syncPath(dirname(file))
}

/**
 * Removes the list of a push whose refs have all changed. Must settle before the client is
 * answered: a list that a power failure brings back would undo what others have pushed since.
 */
export async function settleUpdateList(file: string): Promise<void> {
  const found = statSync(file, { throwIfNoEntry: false })
  if (found?.size === 0) await removeUpdateList(file)
}

/** Removes a list, if there is one, and flushes that to disk. */
export async function removeUpdateList(file: string): Promise<void> {
  if (!existsSync(file)) return
  const isRemoved = await unlessMissing(unlink(file).then(() => true))
  if (isRemoved) await syncPath(dirname(file))
}

/** Age after which the push of a list has certainly ended. */
const AGE_MS_MAX = 2 * 86_400_000

/** Removes lists that a hook wrote after recovery had removed their journal entry. */
export async function sweepUpdateLists(dataDir: string): Promise<void> {
  for (const name of (await unlessMissing(readdir(folderOf(dataDir)))) ?? []) {
    const path = join(folderOf(dataDir), name)
    const found = name.endsWith('.updates') ? await unlessMissing(stat(path)) : undefined
    if (found === undefined || found.mtimeMs > Date.now() - AGE_MS_MAX) continue
    await rm(path, { force: true })
  }
}

function folderOf(dataDir: string): string {
  return join(dataDir, 'pushes')
}
