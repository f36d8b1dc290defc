/** Pages of the branches of a repository, from its cached list of refs or from git. */

import { pageOfReferences } from '../../../cgi/refs/known-references.js'
import { hidesReferences } from '../../../cgi/repository/repository-state.js'
import { offsetOf, type Page } from '../../../sql/database/page.js'
import { clientOf } from '../../auth/client.js'
import type { ReferencePage } from '../../packs/reference-list.js'
import type { Context } from '../../request/context.js'
import { repositoryPathOf } from '../../request/repository-path.js'
import type { Caller } from './git-queue.js'

const PREFIX = 'refs/heads/'

/**
 * Returns a page of the branches by name, and their number. The list of refs that clones are
 * answered from has them in memory, and follows pushes. Git lists them if that list is too long or
 * does not show the last changes. Throws `unavailable` or `throttled` like `ProcessQueue.enter`.
 */
export async function pageOfBranches(
  context: Context,
  { request, grant }: Caller,
  page: Page,
): Promise<ReferencePage> {
  const { repository, who } = grant
  const repositoryPath = repositoryPathOf(context, repository)
  const part = { offset: offsetOf(page), limit: page.limit }
  const question = { repositoryPath, client: () => clientOf(who, request) }
  const seen = await context.packCache.presentReferences(question, repository.objectFormat)
  if (seen !== undefined && !hidesReferences(seen.state)) {
    return seen.references.page(PREFIX, part)
  }
  const { signal } = request
  const input = { namespaces: ['refs/heads'], ...part, signal } as const
  return pageOfReferences(context.git, repositoryPath, input)
}
