/** Folder with the Git data of a wiki, which the first write creates. */

import {
  initRepository,
  removeRepository,
  repositoryExists,
} from '../../../cgi/repository/repository.js'
import { notFound } from '../../../conf/failures.js'
import { findRepositoryById, type Repository } from '../../../sql/repositories/repositories.js'
import type { Context } from '../../request/context.js'
import { markerOf } from '../../request/repository-markers.js'
import { repositoryPathOf } from '../../request/repository-path.js'

/** Branch of a wiki that this server creates. */
export const WIKI_BRANCH = 'main'

/** Throws `not_found`, with that message, if nothing was written to the wiki yet. */
export async function requireWiki(
  context: Context,
  wiki: Repository,
  message?: string,
): Promise<void> {
  if (!(await repositoryExists(repositoryPathOf(context, wiki)))) throw notFound(message)
}

/** Creates the folder unless it exists. Throws `not_found` if the repository was deleted. */
export async function createWiki(context: Context, wiki: Repository): Promise<void> {
  const path = repositoryPathOf(context, wiki)
  if (await repositoryExists(path)) return
  const { objectFormat } = wiki
  try {
    await initRepository(context.git, path, {
      defaultBranch: WIKI_BRANCH,
      objectFormat,
      marker: markerOf(wiki),
    })
  } catch (error) {
    // A concurrent request may have created it.
    if (!(await repositoryExists(path))) throw error
  }
  // A deletion that removed the folders before this one existed must not leave it behind.
  if ((await findRepositoryById(context.db, wiki.id)) !== undefined) return
  await removeRepository(path)
  throw notFound()
}
