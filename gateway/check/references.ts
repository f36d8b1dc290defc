/** Check R2: the refs of each repository name objects that it has. */

import { readHeadBranch } from '../../cgi/refs/head-branch.js'
import { findObjectFault, listReferenceFaults } from '../../cgi/refs/reference-faults.js'
import { repositoryPath } from '../../cgi/repository/paths.js'
import { unlessMissing } from '../../conf/lib/disk.js'
import type { Repository } from '../../sql/repositories/repositories.js'
import type { CheckContext, CheckScope, CheckStep, Finding } from './finding.js'
import { examineRepositories, withWiki } from './repository-folders.js'

/** Yields refs without an object and wrong heads; if deep, also damaged objects. */
export function checkReferences(
  context: CheckContext,
  scope: CheckScope,
): AsyncGenerator<CheckStep> {
  const { isDeep } = scope
  return examineRepositories(context, scope, {
    async examine(repository) {
      const findings: Finding[] = []
      for (const each of withWiki(repository)) {
        const subject = `${each.owner.name}/${each.name}`
        for (const problem of await problemsOf(context, each, isDeep)) {
          findings.push({ code: 'R2', subject, problem, remedy: RESTORE_OBJECTS })
        }
      }
      return findings
    },
  })
}

const RESTORE_OBJECTS =
  'Push the commits again from a clone that has them, or restore the repository from a backup'

/** Maximum number of problems that are reported for one repository. */
const PROBLEMS_MAX = 20

/** Size from which only the connections of objects are checked, not the content of files. */
const FULL_SIZE_KIB_MAX = 1_048_576

/** Returns the problems of a repository; none if it has no folder, which R1 reports. */
async function problemsOf(
  { git, settings }: CheckContext,
  repository: Repository,
  isDeep: boolean,
): Promise<readonly string[]> {
  const path = repositoryPath(settings.data.dir, repository.storage)
  const problems: string[] = []
  const head = await unlessMissing(readHeadBranch(path).then((branch) => ({ branch })))
  if (head === undefined) return []
  const { isWiki, defaultBranch, sizeKib } = repository
  if (!isWiki && head.branch !== defaultBranch) {
    problems.push(`HEAD names ${head.branch ?? 'no branch'}, but the database ${defaultBranch}`)
  }
  try {
    for await (const problem of listReferenceFaults(git, path)) {
      problems.push(problem)
      if (problems.length === PROBLEMS_MAX) return problems
    }
  } catch (error) {
    if (!(error instanceof Error)) throw error
    return [...problems, `Git cannot list the refs (${error.message})`]
  }
  if (!isDeep || problems.length > 0) return problems
  const fault = await findObjectFault(git, path, {
    isConnectivityOnly: sizeKib > FULL_SIZE_KIB_MAX,
  })
  return fault === undefined ? [] : [`Git finds damaged objects (${fault})`]
}
