/** Removal of the stored answers to clones of one repository. */

import { readdir, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { unlessMissing } from '../../conf/lib/disk.js'
import { answersPrefix } from './answer-names.js'
import { answerPath } from './pack-store.js'
import { packFolder } from './warm.js'

/** Removes a repository's answers from the disk, for all workers and gateways of the cache. */
export async function removeAnswers(cacheDir: string, repositoryPath: string): Promise<void> {
  const prefix = answersPrefix(repositoryPath)
  const folder = dirname(answerPath(packFolder(cacheDir), prefix))
  for (const name of (await unlessMissing(readdir(folder))) ?? []) {
    if (name.startsWith(prefix)) await rm(join(folder, name), { force: true })
  }
}
