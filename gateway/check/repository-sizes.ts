/** Check R3: the size of each repository in the database is that of its folder. */

import { existsSync } from 'node:fs'
import { repositoryPath } from '../../cgi/repository/paths.js'
import { repositorySizeKib } from '../../cgi/repository/repository.js'
import type { Repository } from '../../sql/repositories/repositories.js'
import { recordSize } from '../../sql/repositories/wikis.js'
import type { Check, CheckContext, Finding } from './finding.js'
import { examineRepositories, withWiki } from './repository-folders.js'

/** Maximum difference, as a share of the larger size and in KiB; pushes and repacks cause less. */
const SHARE_MAX = 0.1
const DIFFERENCE_KIB_MAX = 1_024

/** Yields repositories and wikis whose size differs. The repair stores the measured size. */
export const checkSizes: Check = (context, scope) =>
  examineRepositories(context, scope, {
    async examine(repository) {
      const findings: Finding[] = []
      for (const each of withWiki(repository)) {
        const measuredKib = await measure(context, each)
        const differenceKib = Math.abs(measuredKib - each.sizeKib)
        const share = differenceKib / Math.max(measuredKib, each.sizeKib)
        if (differenceKib <= DIFFERENCE_KIB_MAX || share <= SHARE_MAX) continue
        findings.push({
          code: 'R3',
          subject: `${each.owner.name}/${each.name}`,
          problem: `The size is ${measuredKib} KiB, but the database has ${each.sizeKib}`,
          remedy: "Run 'gatehouse check --only R3 --repair'",
        })
      }
      return findings
    },
    async repair(repository) {
      for (const each of withWiki(repository)) {
        await recordSize(context.db, each, await measure(context, each))
      }
    },
  })

/** Returns the size of a folder; that of the database if there is no folder, which R1 reports. */
async function measure({ settings }: CheckContext, repository: Repository): Promise<number> {
  const path = repositoryPath(settings.data.dir, repository.storage)
  return existsSync(path) ? await repositorySizeKib(path) : repository.sizeKib
}
