/** Removal of the stale files and rows of imports whose process has ended. */

import { isThisSpace } from '../../../cgi/process/process-space.js'
import { isRunning, type ProcessMark } from '../../../cgi/process/process-table.js'
import { repositoryPath } from '../../../cgi/repository/paths.js'
import { removeUnfinished } from '../../../cgi/repository/repository.js'
import type { Database } from '../../../sql/database/database.js'
import {
  endImport,
  giveUpImport,
  type Import,
  listImports,
} from '../../../sql/repositories/repository-imports.js'
import { wikiStorage } from '../../../sql/repositories/wikis.js'

/**
 * Removes the folders, then the rows, and returns the number of imports. Crash recovery must have
 * ended the git processes of dead gateways before. Running imports are not affected.
 */
export async function sweepImports(db: Database, dataDir: string): Promise<number> {
  let swept = 0
  for (const found of await listImports(db)) {
    if (!(await isDead(found)) || !(await giveUpImport(db, found))) continue
    for (const storage of [found.storage, wikiStorage(found.storage)]) {
      await removeUnfinished(repositoryPath(dataDir, storage))
    }
    await endImport(db, found.id)
    swept += 1
  }
  return swept
}

/** Returns true if the import has ended. On another machine only its lease shows that. */
async function isDead({ machine, process, leasedUntilMs }: Import): Promise<boolean> {
  if (leasedUntilMs < Date.now()) return true
  return isThisSpace(machine) && !isRunning(JSON.parse(process) as ProcessMark)
}
